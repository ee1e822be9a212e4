package shell

import (
	"bytes"
	"context"
	"errors"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skill-evolve/evolve/mutate/script/acts"
)

// Read reads texts in bash's grammar, of which that of sh is nearly a part.
func Read(ctx context.Context, texts [][]byte) ([]*acts.Reading, error) {
	var out []*acts.Reading
	for _, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(text), "")
		if err != nil {
			line := uint(0)
			if e := (syntax.ParseError{}); errors.As(err, &e) {
				line, err = e.Pos.Line(), errors.New(e.Text)
			} else if e := (syntax.LangError{}); errors.As(err, &e) {
				line, err = e.Pos.Line(), errors.New(e.Feature+" is no part of sh or bash")
			}
			out = append(out, &acts.Reading{Syntax: acts.SyntaxError(int(line), err.Error())})
			continue
		}
		out = append(out, analyse(file))
	}
	return out, nil
}

// A walk collects what a shell script does.
type walk struct {
	out      *acts.Reading
	vars     map[string][]value // all that is put into each variable
	fns      map[string]*syntax.FuncDecl
	calls    map[string][]callSite // the call sites of each function
	busy     map[string]bool
	forms    map[string]string
	endings  map[string]acts.Ending // of functions
	numbers  map[string]bool        // variables that only ever hold numbers
	tests    map[string]string      // the tests of each variable
	guards   [][2]string            // calls of functions that exit, each with the function in which it is
	blockers map[string]bool        // functions that exit
	shifts   map[string]bool        // functions that shift their arguments
	lists    map[string]bool        // variables that are arrays
	exported map[string]bool        // variables that are exported
}

// A value is a word in a function; a nil word is a value that is not in the text.
type value struct {
	word *syntax.Word
	fn   string
}

type callSite struct {
	args []*syntax.Word
	fn   string // in which function the call is
}

// A place is where in the script the walk is.
type place struct {
	live  bool
	sure  bool   // nothing decides whether it is reached, within its function
	sub   bool   // in a subshell: an exit ends that alone
	given bool   // stdin is a pipe or a text of the script
	stdin string // what that is
	fn    string // the function
	path  string
	to    string // where the output goes, "" for stdout
}

func (p place) in(name string) place {
	p.path += "/" + name
	p.sure = p.sure && name == "do"
	return p
}

func analyse(file *syntax.File) *acts.Reading {
	w := &walk{out: acts.NewReading(), vars: map[string][]value{}, fns: map[string]*syntax.FuncDecl{}, calls: map[string][]callSite{},
		busy: map[string]bool{}, forms: map[string]string{}, endings: map[string]acts.Ending{}, numbers: map[string]bool{}, tests: testsOf(file), shifts: map[string]bool{}, blockers: map[string]bool{}, lists: map[string]bool{}, exported: map[string]bool{}}
	w.functions(file)
	w.collect(file, "")
	w.findNumbers()
	w.stmts(file.Stmts, place{live: true, sure: true})
	w.countGuards()
	for name, fn := range w.fns {
		w.out.Binds[name] = int(fn.Pos().Line())
		input := slices.ContainsFunc(w.calls[name], func(c callSite) bool { return !w.constWords(c.args) })
		w.out.Functions[name] = acts.Function{Varied: w.varied(fn), Used: len(w.calls[name]) > 0, Input: input, Line: int(fn.Pos().Line())}
	}
	for name, values := range w.vars {
		if w.out.Sets[" "+name] = len(values); w.lists[name] {
			w.out.Defs[name] = len(values)
		}
		w.out.Binds["$"+name] = 0
		for _, v := range values {
			if v.word != nil && len(v.word.Parts) > 0 {
				w.out.Binds["$"+name] = int(v.word.Pos().Line())
			}
		}
	}
	return w.out
}

func (w *walk) note(rule, key string, n syntax.Node, text string) {
	w.out.Add(acts.Fact{Rule: rule, Key: acts.Short(key), Line: int(n.Pos().Line()), Code: printed(n), Text: text})
}

// computed is a finding unless the parent has just this code.
func (w *walk) computed(n syntax.Node, p place, what string) {
	w.out.Add(acts.Fact{Rule: "computed", Key: acts.Short(printed(n) + w.inside(n, p.fn)), Line: int(n.Pos().Line()), Code: printed(n), Counted: true, Text: what})
}

// printed is code on one line; the printer knows fewer nodes than there are.
func printed(n syntax.Node) string {
	var b strings.Builder
	switch k := n.(type) {
	case *syntax.Redirect:
		n = &syntax.Stmt{Redirs: []*syntax.Redirect{k}}
	case *syntax.Assign:
		n = &syntax.CallExpr{Assigns: []*syntax.Assign{k}}
	case *syntax.BinaryTest:
		n = &syntax.TestClause{X: k}
	case *syntax.UnaryTest:
		n = &syntax.TestClause{X: k}
	case *syntax.CaseItem:
		n = &syntax.CaseClause{Word: &syntax.Word{}, Items: []*syntax.CaseItem{k}}
	case syntax.WordPart:
		n = &syntax.Word{Parts: []syntax.WordPart{k}}
	}
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, n); err != nil {
		return ""
	}
	return b.String()
}

func (w *walk) functions(file *syntax.File) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok && f.Name != nil {
			if w.fns[f.Name.Value] != nil {
				w.note("shadow", f.Name.Value, f, "The function "+f.Name.Value+" is defined twice.")
			}
			w.fns[f.Name.Value] = f
		}
		return true
	})
}

// collect notes what is put into variables, and the calls of functions.
func (w *walk) collect(n syntax.Node, fn string) {
	syntax.Walk(n, func(k syntax.Node) bool {
		switch k := k.(type) {
		case *syntax.FuncDecl:
			if k != n && k.Name != nil {
				w.collect(k, k.Name.Value)
				return false
			}
		case *syntax.Assign:
			if k.Name != nil && !k.Naked {
				w.assigned(k, fn)
			}
		case *syntax.WordIter:
			for _, item := range k.Items {
				w.vars[k.Name.Value] = append(w.vars[k.Name.Value], value{item, fn})
			}
			if len(k.Items) == 0 && !k.InPos.IsValid() {
				w.vars[k.Name.Value] = append(w.vars[k.Name.Value], value{allArguments, fn})
			}
		case *syntax.DeclClause:
			for _, a := range k.Args {
				if a.Name != nil && k.Variant.Value == "export" {
					w.exported[a.Name.Value] = true
				}
			}
		case *syntax.CallExpr:
			w.called(k, fn)
		}
		return true
	})
}

// allArguments is what a loop without a list goes over.
var allArguments = &syntax.Word{Parts: []syntax.WordPart{&syntax.ParamExp{Short: true, Param: &syntax.Lit{Value: "@"}}}}

func (w *walk) assigned(a *syntax.Assign, fn string) {
	name := a.Name.Value
	switch {
	case a.Array != nil:
		w.lists[name] = true
		for _, e := range a.Array.Elems {
			w.vars[name] = append(w.vars[name], value{e.Value, fn})
		}
		if len(a.Array.Elems) == 0 {
			w.vars[name] = append(w.vars[name], value{&syntax.Word{}, fn})
		}
	case a.Value == nil:
		w.vars[name] = append(w.vars[name], value{&syntax.Word{}, fn})
	default:
		w.vars[name] = append(w.vars[name], value{a.Value, fn})
	}
	if a.Append {
		w.vars[name] = append(w.vars[name], value{nil, "+"})
	}
}

// called notes calls of functions, and variables that `read` and the like fill.
func (w *walk) called(c *syntax.CallExpr, fn string) {
	if len(c.Args) == 0 {
		return
	}
	name, ok := literal(c.Args[0])
	if !ok {
		return
	}
	if name == "shift" {
		w.shifts[fn] = true
	}
	if w.fns[name] != nil {
		w.calls[name] = append(w.calls[name], callSite{c.Args[1:], fn})
	}
	if name == "read" || name == "mapfile" || name == "readarray" || name == "getopts" {
		for _, a := range c.Args[1:] {
			if v, ok := literal(a); ok && syntax.ValidName(v) {
				w.vars[v] = append(w.vars[v], value{nil, fn})
			}
		}
	}
}

// literal is a word's text, if nothing in it is computed.
func literal(word *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(unslash(part.Value))
		case *syntax.SglQuoted:
			if part.Dollar && strings.Contains(part.Value, `\`) {
				return "", false
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, q := range part.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok {
					return "", false
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

func unslash(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if i++; s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// form describes where a word's value comes from, whatever its variables are called.
func (w *walk) form(word *syntax.Word, fn string) string {
	if word == nil {
		return "?"
	}
	if lit, ok := literal(word); ok {
		return quoteForm(lit)
	}
	var b strings.Builder
	for _, part := range word.Parts {
		w.partForm(&b, part, fn)
	}
	return acts.Short(b.String())
}

func quoteForm(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (w *walk) partForm(b *strings.Builder, part syntax.WordPart, fn string) {
	switch part := part.(type) {
	case *syntax.Lit:
		b.WriteString(quoteForm(part.Value))
	case *syntax.SglQuoted:
		b.WriteString(quoteForm(part.Value))
		if part.Dollar {
			b.WriteString("$")
		}
	case *syntax.DblQuoted:
		for _, q := range part.Parts {
			w.partForm(b, q, fn)
		}
	case *syntax.ParamExp:
		if plainParam(part) {
			b.WriteString(w.variable(part.Param.Value, fn))
			return
		}
		b.WriteString(strings.ReplaceAll(printed(part), part.Param.Value, "v") + w.inside(part, fn))
	default:
		b.WriteString(unnamed.ReplaceAllString(printed(part), "$$v") + w.inside(part, fn))
	}
}

func plainParam(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Excl && !p.Length && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil && p.Names == 0
}

var unnamed = lazyregexp.New(`\$\{?[A-Za-z_]\w*`)

// inside lists the values of the variables in a piece of code, and the functions that it
// calls.
func (w *walk) inside(n syntax.Node, fn string) string {
	var all []string
	syntax.Walk(n, func(k syntax.Node) bool {
		if p, ok := k.(*syntax.ParamExp); ok && p.Param != nil {
			all = append(all, w.variable(p.Param.Value, fn))
		}
		if c, ok := k.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			name, _ := literal(c.Args[0])
			if f := w.fns[name]; f != nil {
				all = append(all, w.once("function "+name, func() []string { return []string{printed(f.Body) + w.inside(f.Body, name)} }))
			}
		}
		return true
	})
	return acts.Short(strings.Join(all, ","))
}

// variable is the form of a variable: all that is ever put into it. In a function $1 is
// what its calls have there.
func (w *walk) variable(name, fn string) string {
	if i := argument(name); i >= 0 && fn != "" {
		return w.positional(i, name, fn)
	}
	values := w.vars[name]
	if len(values) == 0 {
		return "$" + name
	}
	return w.once("$"+name, func() (all []string) {
		for _, v := range values {
			all = append(all, w.form(v.word, v.fn)+map[bool]string{true: "+"}[v.fn == "+"])
		}
		return all
	})
}

func (w *walk) positional(i int, name, fn string) string {
	return w.once(fn+" $"+name, func() (all []string) {
		for _, c := range w.calls[fn] {
			for _, a := range w.argsAt(i, name, fn, c) {
				all = append(all, w.form(a, c.fn))
			}
		}
		return all
	})
}

// argument is which argument a parameter is, from 0; "@" is all from there on. -1 is none.
func argument(name string) int {
	if name == "@" || name == "*" {
		return 0
	}
	if len(name) == 1 && name[0] >= '1' && name[0] <= '9' {
		return int(name[0] - '1')
	}
	return -1
}

// argsAt lists what a parameter may be in a call. After a shift it may be a later one.
func (w *walk) argsAt(i int, name, fn string, c callSite) []*syntax.Word {
	if i >= len(c.args) {
		return nil
	}
	if name == "@" || name == "*" || w.shifts[fn] || slices.ContainsFunc(c.args, several) {
		return c.args
	}
	return c.args[i : i+1]
}

// several reports whether a word may become several ones.
func several(word *syntax.Word) bool {
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst:
			return true
		case *syntax.DblQuoted:
			if strings.Contains(printed(part), "@") {
				return true
			}
		}
	}
	return false
}

// once computes a union of forms; a variable that is computed of itself is a loop.
func (w *walk) once(key string, of func() []string) string {
	if f, ok := w.forms[key]; ok {
		return f
	}
	if w.busy[key] {
		return "↺"
	}
	w.busy[key] = true
	defer delete(w.busy, key)
	w.forms[key] = acts.Union(of())
	return w.forms[key]
}
