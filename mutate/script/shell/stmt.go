package shell

import (
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skill-evolve/evolve/mutate/script/acts"
)

// stmts walks statements in their order. What follows an exit is dead.
func (w *walk) stmts(list []*syntax.Stmt, p place) {
	ended := false
	for _, s := range list {
		if _, fn := s.Cmd.(*syntax.FuncDecl); ended && !fn {
			w.note("unreachable", printed(s), s, "This is never reached: what is above it always ends.")
			p.live = false
		}
		w.stmt(s, p)
		ended = ended || w.ends(s) != acts.GoesOn
	}
}

func (w *walk) stmt(s *syntax.Stmt, p place) {
	if s.Background || s.Coprocess || s.Disown {
		w.note("background", printed(s), s, "It runs something in the background that its parent does not.")
		p.sub = true
	}
	w.constantInput(s, p)
	for _, r := range s.Redirs {
		p = w.redirect(r, s, p)
	}
	switch c := s.Cmd.(type) {
	case nil:
		if len(s.Redirs) > 0 {
			w.note("redirect", "alone "+printed(s), s, "It opens a file without a command.")
		}
	case *syntax.CallExpr:
		w.call(c, p)
	case *syntax.Block:
		w.stmts(c.Stmts, p)
	case *syntax.Subshell:
		p.sub = true
		w.stmts(c.Stmts, p.in("subshell"))
	case *syntax.IfClause:
		w.ifClause(c, p)
	case *syntax.WhileClause:
		w.loopCond(c, p)
		w.endless(c)
		w.stmts(c.Cond, p.in("while"))
		w.stmts(c.Do, p.in("do"))
	case *syntax.ForClause:
		w.forClause(c, p)
	case *syntax.CaseClause:
		w.caseClause(c, p)
	case *syntax.BinaryCmd:
		w.binary(c, p)
	case *syntax.FuncDecl:
		w.funcDecl(c, p)
	case *syntax.TestClause:
		w.test(c.X, p)
	case *syntax.DeclClause:
		w.decl(c, p)
	case *syntax.ArithmCmd:
		w.arithm(c.X, c, p)
	default:
		w.note("construct", printed(s), s, "It uses a construct that is not known to be harmless.")
		w.nested(s.Cmd, p)
	}
}

// nested walks the statements somewhere below a node that is not taken apart.
func (w *walk) nested(n syntax.Node, p place) {
	syntax.Walk(n, func(k syntax.Node) bool {
		if s, ok := k.(*syntax.Stmt); ok {
			w.stmt(s, p)
			return false
		}
		return true
	})
}

func (w *walk) ifClause(c *syntax.IfClause, p place) {
	if len(c.Cond) > 0 {
		w.conditions(c.Cond, p)
	}
	w.stmts(c.Cond, p.in("cond"))
	w.stmts(c.Then, p.in("if"))
	if c.Else != nil {
		w.ifClause(c.Else, p.in("else"))
	}
}

// conditions reports a test whose result is known: that of the last statement counts.
func (w *walk) conditions(list []*syntax.Stmt, p place) {
	last := list[len(list)-1]
	if w.constant(last, false) {
		w.note("constant-condition", printed(last), last, "This condition does not depend on anything.")
		return
	}
	w.halves(last, p)
}

func (w *walk) halves(s *syntax.Stmt, p place) {
	b, ok := s.Cmd.(*syntax.BinaryCmd)
	if !ok || b.Op != syntax.AndStmt && b.Op != syntax.OrStmt {
		return
	}
	for _, side := range []*syntax.Stmt{b.X, b.Y} {
		if w.constant(side, false) {
			w.note("constant-condition", "part "+printed(side)+" of "+b.Op.String(), side, "A part of this condition does not depend on anything.")
		}
		w.halves(side, p)
	}
}

func (w *walk) loopCond(c *syntax.WhileClause, p place) {
	if len(c.Cond) > 0 && !(len(c.Cond) == 1 && !c.Until && (commandName(c.Cond[0]) == "true" || commandName(c.Cond[0]) == ":")) {
		w.conditions(c.Cond, p)
	}
}

func (w *walk) forClause(c *syntax.ForClause, p place) {
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		w.variableName(l.Name.Value, l, "a loop's value")
		if len(l.Items) == 0 && l.InPos.IsValid() {
			w.note("constant-condition", "for nothing", l, "This loop goes over nothing.")
		}
		if len(l.Items) > 0 && w.constWords(l.Items) {
			w.overwrites(l.Name.Value, l.Items[0], l, p)
		}
		for _, item := range l.Items {
			w.word(item, p)
			w.glob(item)
		}
	case *syntax.CStyleLoop:
		for _, x := range []syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
			if x != nil {
				w.arithm(x, l, p)
			}
		}
	default:
		w.note("construct", printed(c), c, "It uses a construct that is not known to be harmless.")
	}
	w.stmts(c.Do, p.in("do"))
}

func (w *walk) caseClause(c *syntax.CaseClause, p place) {
	w.word(c.Word, p)
	if w.constWord(c.Word) {
		w.note("constant-condition", "case "+printed(c.Word), c, "This case does not depend on anything.")
	}
	any := false
	for _, item := range c.Items {
		at := p.in("case")
		if any {
			w.note("unreachable", printed(item), item, "This is never reached: a pattern above it matches everything.")
			at.live = false
		}
		for _, pattern := range item.Patterns {
			w.word(pattern, p)
			any = any || everyGlob(pattern)
		}
		if item.Op != syntax.Break {
			w.note("construct", "case falls through", item, "One case goes on into the next.")
		}
		w.stmts(item.Stmts, at)
	}
}

func everyGlob(word *syntax.Word) bool {
	lit := word.Lit()
	return lit != "" && strings.Trim(lit, "*") == ""
}

func (w *walk) binary(c *syntax.BinaryCmd, p place) {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		p.sub = true
		if c.Op == syntax.PipeAll {
			w.note("redirect", "|&", c, "It pipes the errors of a command, too.")
		}
		left := p
		left.to = "pipe"
		w.stmt(c.X, left)
		p.given, p.stdin = true, acts.Short(unnamed.ReplaceAllString(printed(c.X), "$$v")+w.inside(c.X, p.fn))
		w.stmt(c.Y, p.in("pipe"))
	case syntax.AndStmt, syntax.OrStmt:
		if w.constant(c.X, false) {
			w.note("constant-condition", printed(c.X)+c.Op.String(), c.X, "This condition does not depend on anything.")
		}
		if c.Op == syntax.OrStmt && w.succeeds(c.Y) {
			for _, e := range w.effects(c.X) {
				w.note("handler", "ignored: "+e, c, "A failure is now ignored: "+e+".")
			}
		}
		w.stmt(c.X, p)
		w.stmt(c.Y, p.in(c.Op.String()))
	default:
		w.note("construct", printed(c), c, "It uses an operator that is not known to be harmless.")
	}
}

// succeeds reports whether a statement only makes a failure a success.
func (w *walk) succeeds(s *syntax.Stmt) bool {
	name := commandName(s)
	return name == "true" || name == ":" || name == "echo" || name == "printf"
}

// commandName is the name of a simple command, "" for any other statement.
func commandName(s *syntax.Stmt) string {
	if c, ok := s.Cmd.(*syntax.CallExpr); ok && len(c.Args) > 0 {
		name, _ := literal(c.Args[0])
		return name
	}
	return ""
}

// effects names the commands in a statement whose failure matters, also in the
// functions that it calls. The shell ignores a failure inside of an argument anyway.
func (w *walk) effects(s *syntax.Stmt) (out []string) {
	seen := map[string]bool{}
	var look func(n syntax.Node)
	look = func(n syntax.Node) {
		syntax.Walk(n, func(k syntax.Node) bool {
			c, ok := k.(*syntax.CallExpr)
			if !ok || len(c.Args) == 0 {
				return true
			}
			name, _ := literal(c.Args[0])
			if fn := w.fns[name]; fn != nil && !seen[name] {
				seen[name] = true
				look(fn.Body)
			}
			if !quiet()[name] && w.fns[name] == nil {
				out = append(out, printed(c.Args[0]))
			}
			return false
		})
	}
	look(s)
	return out
}

var quiet = sync.OnceValue(func() map[string]bool {
	return acts.Set("[ test true false : echo printf grep egrep fgrep tr cut head tail wc basename dirname cat jq sed read return shift local sort uniq")
})

func (w *walk) funcDecl(f *syntax.FuncDecl, p place) {
	if f.Name == nil {
		w.note("construct", printed(f), f, "It uses a construct that is not known.")
		return
	}
	name := f.Name.Value
	if commands()[name] || quiet()[name] || !acts.ASCII(name) {
		w.note("shadow", name, f, "A function has the name of a command: "+name+".")
	}
	in := place{live: p.live && len(w.calls[name]) > 0, sure: true, fn: name, path: p.path + "/function " + name, given: p.given}
	w.stmt(f.Body, in)
}

// commands are names that a function may not take.
var commands = sync.OnceValue(func() map[string]bool {
	return acts.Set("[ test true false : echo printf grep egrep fgrep tr cut head tail wc basename dirname cat jq sed awk read return exit shift local",
		"sort uniq git rm mv cp ln mkdir chmod chown curl wget ssh scp nc bash sh dash zsh python python3 node perl ruby npm npx pnpm yarn make docker",
		"cd pwd set unset export readonly declare typeset trap kill wait exec eval source . command builtin type hash alias unalias enable shopt let",
		"command_not_found_handle find xargs env sudo su date sleep touch tee dd tar gzip mktemp realpath readlink stat file diff patch ls ps id whoami uname hostname umask ulimit getopts mapfile readarray exit break continue times logger timeout flock sha256sum")
})

func (w *walk) redirect(r *syntax.Redirect, s *syntax.Stmt, p place) place {
	fd := ""
	if r.N != nil {
		fd = r.N.Value
	}
	target, lit := "", false
	if r.Word != nil {
		target, lit = literal(r.Word)
		w.word(r.Word, p)
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc != nil {
			w.word(r.Hdoc, p)
			p.stdin = w.form(r.Hdoc, p.fn)
		}
		p.given = true
		return p
	case syntax.WordHdoc:
		p.given, p.stdin = true, w.form(r.Word, p.fn)
		return p
	case syntax.DplOut:
		if lit && (target == "2" || target == "1") {
			if fd == "" || fd == "1" {
				p.to = "fd " + target
			}
			return p
		}
	case syntax.RdrIn:
		p.given, p.stdin = true, w.form(r.Word, p.fn)
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll:
		if lit && target == "/dev/null" && quiet()[commandName(s)] && commandName(s) != "echo" && commandName(s) != "printf" {
			return p
		}
		if fd == "" || fd == "1" {
			p.to = w.form(r.Word, p.fn)
		}
	}
	what := ""
	if c, ok := s.Cmd.(*syntax.CallExpr); ok && r.Op != syntax.RdrIn && len(c.Args) > 0 {
		what = " of " + w.sources(c.Args[1:], p.fn)
	}
	w.note("redirect", fd+r.Op.String()+w.form(r.Word, p.fn)+what, r, "It opens a file or a descriptor that its parent does not: "+printed(r.Word)+".")
	return p
}

// ends reports how a statement ends its block, if it always does.
func (w *walk) ends(s *syntax.Stmt) acts.Ending {
	if s.Background {
		return acts.GoesOn
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return w.endsCall(c)
	case *syntax.Block:
		return w.endsList(c.Stmts)
	case *syntax.IfClause:
		return w.endsIf(c)
	case *syntax.CaseClause:
		least, any := acts.Exits, false
		for _, item := range c.Items {
			least = min(least, w.endsList(item.Stmts))
			for _, pattern := range item.Patterns {
				any = any || everyGlob(pattern)
			}
		}
		if any {
			return least
		}
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt || c.Op == syntax.OrStmt {
			return w.ends(c.X)
		}
	}
	return acts.GoesOn
}

func (w *walk) endsList(list []*syntax.Stmt) acts.Ending {
	for _, s := range list {
		if e := w.ends(s); e != acts.GoesOn {
			return e
		}
	}
	return acts.GoesOn
}

func (w *walk) endsIf(c *syntax.IfClause) acts.Ending {
	if c.ThenPos.IsValid() && c.Else == nil {
		return acts.GoesOn
	}
	least := w.endsList(c.Then)
	if c.Else != nil {
		least = min(least, w.endsIf(c.Else))
	}
	return least
}

func (w *walk) endsCall(c *syntax.CallExpr) acts.Ending {
	if len(c.Args) == 0 {
		return acts.GoesOn
	}
	name, _ := literal(c.Args[0])
	switch name {
	case "exit":
		return acts.Exits
	case "exec":
		if len(c.Args) > 1 {
			return acts.Exits
		}
	case "return", "break", "continue":
		return acts.Leaves
	}
	fn := w.fns[name]
	if fn == nil || returns(fn) {
		return acts.GoesOn
	}
	how, ok := w.endings[name]
	if !ok {
		w.endings[name] = acts.GoesOn // while it is being found out
		how = w.ends(fn.Body)
		w.endings[name] = how
	}
	if how == acts.Leaves {
		return acts.GoesOn
	}
	return how
}
