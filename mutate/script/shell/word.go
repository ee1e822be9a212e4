package shell

import (
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skill-evolve/evolve/mutate/script/acts"
)

// word walks what a word computes, and the words of an answer in its text.
func (w *walk) word(word *syntax.Word, p place) {
	if word == nil {
		return
	}
	var text strings.Builder
	for _, part := range word.Parts {
		w.part(part, &text, p)
	}
	w.out.Answer(text.String(), int(word.Pos().Line()), printed(word), p.live, p.to)
}

func (w *walk) part(part syntax.WordPart, text *strings.Builder, p place) {
	switch part := part.(type) {
	case *syntax.Lit:
		text.WriteString(unslash(part.Value))
	case *syntax.SglQuoted:
		text.WriteString(part.Value)
		if part.Dollar && strings.Contains(part.Value, `\`) {
			w.note("construct", "$'"+part.Value+"'", part, "A text is spelled with escapes.")
		}
	case *syntax.DblQuoted:
		if part.Dollar {
			w.note("construct", `$"`, part, "A text is translated before it is used.")
		}
		for _, q := range part.Parts {
			w.part(q, text, p)
		}
	case *syntax.ParamExp:
		w.param(part, p)
	case *syntax.CmdSubst:
		if part.TempFile || part.ReplyVar {
			w.note("construct", printed(part), part, "It uses a construct that is not known.")
		}
		p.sub, p.to = true, "a variable"
		w.stmts(part.Stmts, p.in("$()"))
	case *syntax.ArithmExp:
		w.arithm(part.X, part, p)
	default: // process substitution, extended globs, braces
		code := printed(part)
		w.note("construct", code+w.inside(part, p.fn), part, "It uses a construct that is not known to be harmless: "+acts.Clip(code)+".")
		p.sub = true
		w.nested(part, p)
	}
}

func (w *walk) param(e *syntax.ParamExp, p place) {
	code := printed(e)
	if e.Param == nil || e.Excl || e.Names != 0 || e.Flags != nil || e.NestedParam != nil || len(e.Modifiers) > 0 || e.Width || e.IsSet {
		w.computed(e, p, "The name of a variable is computed.")
		return
	}
	name := e.Param.Value
	if syntax.ValidName(name) && len(w.vars[name]) == 0 {
		w.out.Uses["$"+name] = true
		w.note("variable", name, e, "It reads the variable "+name+", which is not set in the script.")
	}
	if name == "$" || name == "!" || name == "-" || name == "0" || name == "_" {
		w.note("variable", name, e, "It reads $"+name+", which its parent does not read.")
	}
	if e.Index != nil {
		w.subscript(e.Index, code, e, p)
	}
	if e.Slice != nil {
		for _, x := range []syntax.ArithmExpr{e.Slice.Offset, e.Slice.Length} {
			if x != nil {
				w.arithm(x, e, p)
			}
		}
	}
	if e.Repl != nil {
		w.word(e.Repl.Orig, p)
		w.word(e.Repl.With, p)
	}
	if e.Exp != nil {
		w.expansion(e, code, p)
	}
}

func (w *walk) expansion(e *syntax.ParamExp, code string, p place) {
	switch e.Exp.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix,
		syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
	default: // ${x:=y} assigns, ${x:?y} exits, ${x@P} runs commands
		w.note("construct", code+w.inside(e, p.fn), e, "It uses an expansion that does more than it shows: "+acts.Clip(code)+".")
	}
	w.word(e.Exp.Word, p)
}

func (w *walk) subscript(x syntax.ArithmExpr, code string, e *syntax.ParamExp, p place) {
	if word, ok := x.(*syntax.Word); ok {
		if lit, ok := literal(word); ok && (lit == "@" || lit == "*") {
			return
		}
	}
	w.arithm(x, e, p)
}

// arithm reports arithmetic over anything but numbers: the shell evaluates the values of
// variables as expressions, in which $(…) runs.
func (w *walk) arithm(x syntax.ArithmExpr, at syntax.Node, p place) {
	switch x := x.(type) {
	case *syntax.BinaryArithm:
		w.arithm(x.X, at, p)
		w.arithm(x.Y, at, p)
	case *syntax.UnaryArithm:
		w.arithm(x.X, at, p)
	case *syntax.ParenArithm:
		w.arithm(x.X, at, p)
	case *syntax.Word:
		if !w.number(x) {
			w.note("arithmetic", w.form(x, p.fn)+" "+w.variable(x.Lit(), p.fn)+w.tests[variableIn(x)], at, "It computes with a value that may not be a number, and the shell runs commands in such a value.")
		}
		w.word(x, p)
	default:
		w.note("construct", printed(at), at, "It uses a construct that is not known to be harmless.")
	}
}

// variableIn is the name of the variable that a word in arithmetic stands for.
func variableIn(x *syntax.Word) string {
	name := x.Lit()
	syntax.Walk(x, func(n syntax.Node) bool {
		if e, ok := n.(*syntax.ParamExp); ok && e.Param != nil {
			name = e.Param.Value
		}
		return true
	})
	return name
}

// testsOf lists the tests of each variable: a value that is no longer tested to be a
// number is another value.
func testsOf(file *syntax.File) map[string]string {
	out := map[string]string{}
	syntax.Walk(file, func(n syntax.Node) bool {
		test, ok := n.(*syntax.TestClause)
		if !ok {
			return true
		}
		syntax.Walk(test, func(k syntax.Node) bool {
			if e, ok := k.(*syntax.ParamExp); ok && e.Param != nil {
				out[e.Param.Value] += " tested by " + strings.ReplaceAll(printed(test), e.Param.Value, "v")
			}
			return true
		})
		return false
	})
	return out
}

// findNumbers finds the variables that only ever hold numbers: all are taken to, until one
// is given something else, and then those that it is given to.
func (w *walk) findNumbers() {
	for name := range w.vars {
		w.numbers[name] = !w.isSpecial(name)
	}
	for changed := true; changed; {
		changed = false
		for name, values := range w.vars {
			if w.numbers[name] && slices.ContainsFunc(values, func(v value) bool { return v.word == nil || !w.number(v.word) }) {
				w.numbers[name], changed = false, true
			}
		}
	}
}

// number reports whether a word is a number, or a variable that only ever holds one.
func (w *walk) number(word *syntax.Word) bool {
	if len(word.Parts) != 1 {
		return false
	}
	name := word.Lit()
	switch part := word.Parts[0].(type) {
	case *syntax.ParamExp:
		if part.Length || part.Param != nil && (part.Param.Value == "#" || part.Param.Value == "?") {
			return true
		}
		if !plainParam(part) {
			return false
		}
		name = part.Param.Value
	case *syntax.ArithmExp:
		return true // judged where it is
	case *syntax.DblQuoted:
		return len(part.Parts) == 1 && w.number(&syntax.Word{Parts: part.Parts})
	}
	return name != "" && strings.Trim(name, "0123456789") == "" || w.numbers[name]
}

var escaped = lazyregexp.New(`(?s)\\.`)

// glob reports a pattern that the shell replaces by names of files.
func (w *walk) glob(word *syntax.Word) {
	for _, part := range word.Parts {
		if lit, ok := part.(*syntax.Lit); ok && lit.Value != "[" && strings.ContainsAny(escaped.ReplaceAllString(lit.Value, ""), "*?[{") {
			w.note("glob", lit.Value, word, "It lists files: the pattern is not quoted.")
		}
	}
}

// test walks [[ … ]].
func (w *walk) test(x syntax.TestExpr, p place) {
	switch x := x.(type) {
	case *syntax.ParenTest:
		w.test(x.X, p)
	case *syntax.UnaryTest:
		if word, ok := x.X.(*syntax.Word); ok && x.Op != syntax.TsEmpStr && x.Op != syntax.TsNempStr {
			w.note("call", "[[ "+x.Op.String()+" "+w.form(word, p.fn), x, "It looks at a file or a variable at which its parent does not look.")
		}
		w.test(x.X, p)
	case *syntax.BinaryTest:
		w.binaryTest(x, p)
	case *syntax.Word:
		w.word(x, p)
	default:
		w.note("construct", printed(x), x, "It uses a construct that is not known.")
	}
}

func (w *walk) binaryTest(x *syntax.BinaryTest, p place) {
	w.test(x.X, p)
	w.test(x.Y, p)
	a, aWord := x.X.(*syntax.Word)
	b, bWord := x.Y.(*syntax.Word)
	switch x.Op {
	case syntax.AndTest, syntax.OrTest:
		for _, side := range []syntax.TestExpr{x.X, x.Y} {
			if w.constTest(side) {
				w.note("constant-condition", printed(side)+x.Op.String(), side, "A part of this condition does not depend on anything.")
			}
		}
		return
	case syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch, syntax.TsReMatch, syntax.TsBefore, syntax.TsAfter:
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		for _, side := range []syntax.TestExpr{x.X, x.Y} {
			if word, ok := side.(*syntax.Word); ok {
				w.arithm(word, x, p)
			}
		}
	default:
		w.note("call", "[[ "+printed(x), x, "It looks at files at which its parent does not look.")
	}
	if !aWord || !bWord {
		return
	}
	if printed(a) == printed(b) {
		w.note("constant-condition", printed(x), x, "It compares a thing with itself.")
	}
	if lit, ok := literal(b); ok && (everyGlob(b) && x.Op != syntax.TsReMatch || x.Op == syntax.TsReMatch && acts.MatchesAll(lit)) {
		w.note("matches-everything", lit, x, "This pattern matches every text.")
	}
}

func (w *walk) constTest(x syntax.TestExpr) bool {
	switch x := x.(type) {
	case *syntax.ParenTest:
		return w.constTest(x.X)
	case *syntax.UnaryTest:
		return w.constTest(x.X)
	case *syntax.BinaryTest:
		return w.constTest(x.X) && w.constTest(x.Y)
	case *syntax.Word:
		return w.constWord(x)
	}
	return false
}

// constant reports whether a statement succeeds or fails whatever the input is.
// fixed: what it reads is always the same.
func (w *walk) constant(s *syntax.Stmt, fixed bool) bool {
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			fixed = r.Hdoc == nil || w.constWord(r.Hdoc)
		case syntax.WordHdoc:
			fixed = w.constWord(r.Word)
		case syntax.RdrIn:
			fixed = false
		}
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) == 0 {
			return false
		}
		name, _ := literal(c.Args[0])
		switch {
		case name == "true" || name == "false" || name == ":":
			return true
		case readsInput()[name]:
			return fixed && w.constWords(c.Args[1:])
		case name == "[" || name == "test" || name == "printf" || name == "echo":
			return w.constWords(c.Args[1:])
		}
	case *syntax.TestClause:
		return w.constTest(c.X)
	case *syntax.ArithmCmd:
		word, ok := c.X.(*syntax.Word)
		return ok && w.constWord(word)
	case *syntax.Block:
		return len(c.Stmts) > 0 && w.constant(c.Stmts[len(c.Stmts)-1], fixed)
	case *syntax.Subshell:
		return len(c.Stmts) > 0 && w.constant(c.Stmts[len(c.Stmts)-1], fixed)
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe {
			return w.constant(c.X, fixed) && w.constant(c.Y, true)
		}
		return w.constant(c.X, fixed) && w.constant(c.Y, fixed)
	}
	return false
}

func (w *walk) constWords(words []*syntax.Word) bool {
	for _, a := range words {
		if !w.constWord(a) {
			return false
		}
	}
	return true
}

// constWord reports whether a word is the same in every run: it has no variables but
// those that are one literal.
func (w *walk) constWord(word *syntax.Word) bool {
	fixed := true
	syntax.Walk(word, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
			fixed = false
		case *syntax.ParamExp:
			values := []value(nil)
			if n.Param != nil {
				values = w.vars[n.Param.Value]
			}
			if len(values) != 1 || values[0].word == nil {
				fixed = false
			} else if _, ok := literal(values[0].word); !ok {
				fixed = false
			}
		}
		return fixed
	})
	return fixed
}

// varied reports whether what a function does may depend on anything: it does not if it
// begins with a return, or only succeeds or fails.
func (w *walk) varied(fn *syntax.FuncDecl) bool {
	block, ok := fn.Body.Cmd.(*syntax.Block)
	if !ok || len(block.Stmts) == 0 {
		return true
	}
	if commandName(block.Stmts[0]) == "return" || sameReturns(block) {
		return false
	}
	for _, s := range block.Stmts {
		if name := commandName(s); name != "true" && name != "false" && name != ":" && name != "return" && name != "echo" {
			return true
		}
	}
	return false
}

// sameReturns reports whether a function always returns the same: its last statement is a
// return, and all its returns are equal.
func sameReturns(block *syntax.Block) bool {
	if commandName(block.Stmts[len(block.Stmts)-1]) != "return" {
		return false
	}
	codes := map[string]bool{}
	syntax.Walk(block, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == "return" {
			codes[printed(c)] = true
		}
		return true
	})
	return len(codes) == 1
}

// returns reports whether a function may return before its end.
func returns(fn *syntax.FuncDecl) bool {
	found := false
	syntax.Walk(fn.Body, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == "return" {
			found = true
		}
		return !found
	})
	return found
}
