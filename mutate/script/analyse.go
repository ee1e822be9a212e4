package script

import (
	"slices"

	"github.com/skill-evolve/evolve/mutate/script/acts"
)

// analyse walks a tree of Python or JavaScript and collects what it does.
func analyse(tree *node, d *dialect) *acts.Reading {
	w := &walker{r: resolve(tree, d), d: d, out: acts.NewReading(), dead: map[*node]bool{}, values: map[*node]bool{}, kept: map[*node]bool{},
		constants: map[*node]bool{}, owned: map[*node]bool{}, reached: map[*node]bool{}, blockers: map[*node]bool{}, endings: map[*node]acts.Ending{}, asValue: map[*node]bool{}}
	w.prepare(tree, w.r.top)
	w.block(tree, w.r.top, place{live: true, sure: true})
	w.names(w.r.top)
	w.countGuards()
	return w.out
}

type walker struct {
	r      *resolver
	d      *dialect
	out    *acts.Reading
	dead   map[*node]bool // statements that are never reached
	guards []guard
	values map[*node]bool // local functions that are used as values
	kept   map[*node]bool // functions without a name that are given one

	// What was found out: without it, a text of a few lines takes forever.
	constants, owned, reached, blockers map[*node]bool
	asValue                             map[*node]bool // calls of which only a part of the result is used
	endings                             map[*node]acts.Ending
}

// A place is where in the tree the walk is.
type place struct {
	live bool
	sure bool   // nothing decides whether it is reached, within its function
	path string // the statements around it
}

func (p place) in(name string) place {
	p.path += "/" + name
	p.sure = p.sure && (name == "loop" || name == "with" || name == "try")
	return p
}

func (w *walker) note(rule, key string, n *node, text string) {
	w.out.Add(acts.Fact{Rule: rule, Key: key, Line: n.Line, Code: n.Code, Text: text})
}

// block walks statements in their order. What follows an exit is dead.
func (w *walker) block(n *node, s *scope, p place) {
	for _, k := range n.Kids {
		if w.dead[k] && !empty(k) {
			w.note("unreachable", k.text(), k, "This is never reached: what is above it always ends.")
			p.live = false
		}
		w.statement(k, s, p)
	}
}

func empty(n *node) bool { return n.Op == "block" && len(n.Kids) == 0 }

func (w *walker) statement(n *node, s *scope, p place) {
	switch n.Op {
	case "block":
		w.block(n, s, p)
	case "expr":
		if n.Kids[0].Op == "name" && n.Kids[0].Name == acts.Probe {
			w.out.Probes = append(w.out.Probes, p.path)
			return
		}
		if !w.exit(n.Kids[0], s, p) {
			w.effect(n.Kids[0], s)
			w.stated(n.Kids[0], s, p)
		}
	case "return":
		for _, k := range n.Kids {
			w.stated(k, s, p)
		}
	case "break", "continue":
	case "raise":
		w.raise(n, s, p)
	case "if":
		w.condition(n.Kids[0], s, p)
		w.expr(n.Kids[0], s, p)
		w.block(n.Kids[1], s, p.in("if"))
		w.block(n.Kids[2], s, p.in("else"))
	case "loop":
		w.loop(n, s, p)
	case "try":
		w.try(n, s, p)
	case "with":
		w.with(n, s, p)
	case "def":
		w.function(n, s, p)
	case "import", "from":
		name := n.Name
		w.note("import", n.Op+" "+name, n, "It loads the module "+name+", which its parent does not.")
		w.checkName(n, n.Type)
	case "switch":
		w.condition(n.Kids[0], s, p)
		w.expr(n.Kids[0], s, p)
		for _, c := range n.Kids[1:] {
			for _, k := range c.Kids[:len(c.Kids)-1] {
				w.expr(k, s, p)
			}
			w.block(c.Kids[len(c.Kids)-1], s, p.in("case"))
		}
	case "label":
		w.statement(n.Kids[0], s, p.in("label"))
	case "assert", "del":
		w.note(n.Op, w.r.form(n, s), n, "It uses "+n.Op+", and its parent does not do so here.")
		w.kids(n, s, p)
	case "global":
		w.note("global", n.Type+" "+n.Name, n, "A function assigns to a name outside of it: "+n.Name+".")
	case "directive", "bind":
		w.note(n.Op, n.Name, n, "It uses a construct that its parent does not use here: "+n.Name+".")
	case "class":
		w.class(n, s, p)
	default:
		w.expr(n, s, p)
	}
}

func (w *walker) kids(n *node, s *scope, p place) {
	for _, k := range n.Kids {
		w.expr(k, s, p)
	}
}

// exit handles `sys.exit(2)` as a statement.
func (w *walker) exit(n *node, s *scope, p place) bool {
	d, ok := "", false
	if n.Op == "call" {
		d, ok = w.r.dotted(n.Kids[0], s)
	}
	if !ok || !w.d.exits[d] {
		return false
	}
	if len(n.Kids) > 1 {
		w.exitCode(n.Kids[1], n, s, p, 0)
		w.stated(n.Kids[1], s, p)
	}
	for _, k := range n.Kids[min(2, len(n.Kids)):] {
		w.note("unknown", "exit "+k.text(), n, "It exits in a way that is not known.")
	}
	return true
}

// exitCode notes with which codes the script ends: a call of a local function stands for
// all that it returns.
func (w *walker) exitCode(code, at *node, s *scope, p place, depth int) {
	if fn := w.called(code, s); fn != nil && depth < 8 {
		for _, ret := range returnsOf(fn) {
			if len(ret.Kids) > 0 {
				w.exitCode(ret.Kids[0], ret, fn.scope, place{live: p.live && !w.dead[ret], path: p.path}, depth+1)
			}
		}
		return
	}
	if code.Op == "cond" && depth < 8 {
		w.condition(condTest(code), s, p)
		for _, k := range condArms(code) {
			w.exitCode(k, at, s, p, depth+1)
		}
		return
	}
	form := w.r.form(code, s)
	if form == `int"0"` || form == `NoneType"None"` {
		return
	}
	w.note("exit", form, at, "It exits with a code with which its parent does not exit.")
	if p.live {
		w.out.Keeps["exit "+form]++
	}
}

func (w *walker) called(n *node, s *scope) *node {
	if n.Op != "call" {
		return nil
	}
	return w.r.local(n.Kids[0], s)
}

// Python's IfExp has its test first, as JavaScript's has.
func condTest(n *node) *node   { return n.Kids[0] }
func condArms(n *node) []*node { return n.Kids[1:] }

func (w *walker) raise(n *node, s *scope, p place) {
	if len(n.Kids) == 1 && n.Kids[0].Op == "call" {
		if d, ok := w.r.dotted(n.Kids[0].Kids[0], s); ok && d == "SystemExit" {
			if args := n.Kids[0].Kids[1:]; len(args) > 0 {
				w.exitCode(args[0], n, s, p, 0)
				w.kids(n.Kids[0].Kids[1], s, p)
			}
			return
		}
	}
	w.note("raise", w.r.form(n, s), n, "It raises an exception that its parent does not raise.")
	w.kids(n, s, p)
}

func (w *walker) loop(n *node, s *scope, p place) {
	if n.Name == "while" {
		if k := n.Kids[0]; k.Op != "const" || k.Name == "" || k.Name == "0" || k.Name == "False" || k.Name == "false" || k.Name == "None" || k.Name == "null" {
			w.condition(k, s, p)
		}
		w.endless(n)
	}
	for _, k := range n.Kids[:len(n.Kids)-2] {
		w.expr(k, s, p)
	}
	w.block(n.Kids[len(n.Kids)-2], s, p.in("loop"))
	w.block(n.Kids[len(n.Kids)-1], s, p.in("loop-else"))
}

func (w *walker) with(n *node, s *scope, p place) {
	last := len(n.Kids) - 1
	for _, k := range n.Kids[:last] {
		if k.Op == "enter" {
			w.note("with", w.r.form(k.Kids[0], s), k, "It enters a context that its parent does not enter.")
			w.expr(k.Kids[0], s, p)
		} else {
			w.expr(k, s, p)
		}
	}
	w.block(n.Kids[last], s, p.in("with"))
}

// try looks at what handlers hide: an exit, an exception, or an act that may fail.
func (w *walker) try(n *node, s *scope, p place) {
	body := n.Kids[0]
	for _, h := range n.Kids[1:] {
		if h.Op != "handler" {
			continue
		}
		types := "everything"
		if t := h.Kids[0]; len(t.Kids) > 0 {
			types = w.r.form(t.Kids[0], s)
			w.handled(t.Kids[0], s, p)
			if w.isNarrow(t.Kids[0], s) {
				continue
			}
		}
		for _, e := range w.effects(body, s, map[*node]bool{}) {
			w.note("handler", types+" over "+e, h, "A handler now catches what its parent lets through: "+e+".")
		}
	}
	w.block(body, s, p.in("try"))
	for _, h := range n.Kids[1:] {
		switch h.Op {
		case "handler":
			for _, k := range h.Kids[1 : len(h.Kids)-1] {
				w.expr(k, s, p)
			}
			w.block(h.Kids[len(h.Kids)-1], s, p.in("handler"))
		case "else":
			w.block(h.Kids[0], s, p.in("try-else"))
		case "finally":
			w.block(h.Kids[0], s, p.in("finally"))
			if w.ends(h.Kids[0], s) != acts.GoesOn {
				w.note("finally", h.text(), h, "A finally block ends the script or the function, whatever was decided before.")
			}
		}
	}
}

func (w *walker) handled(t *node, s *scope, p place) {
	for _, k := range typesOf(t) {
		if d, ok := w.r.dotted(k, s); !ok || !slices.Contains([]string{"Exception", "BaseException", "SystemExit", "KeyboardInterrupt", "OSError"}, d) {
			w.expr(k, s, p)
		}
	}
}

func typesOf(t *node) []*node {
	if t.Op == "list" {
		return t.Kids
	}
	return []*node{t}
}

func (w *walker) isNarrow(t *node, s *scope) bool {
	return !slices.ContainsFunc(typesOf(t), func(k *node) bool {
		d, ok := w.r.dotted(k, s)
		return !ok || !w.d.narrow[d]
	})
}

// effects lists what in a body a handler could hide, also in the local functions that it
// calls.
func (w *walker) effects(body *node, s *scope, seen map[*node]bool) (out []string) {
	var look func(n *node, s *scope)
	look = func(n *node, s *scope) {
		if n.Op == "def" || n.Op == "class" {
			return
		}
		if n.scope != nil {
			s = n.scope
		}
		switch n.Op {
		case "raise":
			out = append(out, "raise "+w.r.form(n, s))
		case "call", "new":
			if fn := w.r.local(n.Kids[0], s); fn != nil && !seen[fn] {
				seen[fn] = true
				look(fn.Kids[len(fn.Kids)-1], fn.scope)
			} else if d, ok := w.r.dotted(n.Kids[0], s); ok && !w.d.pure[d] {
				out = append(out, "call "+d)
				if w.d.exits[d] {
					out = append(out, "exit "+w.r.args(n, s))
				}
			}
		}
		for _, k := range n.Kids {
			look(k, s)
		}
	}
	look(body, s)
	slices.Sort(out)
	return slices.Compact(out)
}

func (w *walker) function(n *node, s *scope, p place) {
	w.checkName(n, n.Name)
	if n.Type != "" && n.Type != "named" {
		w.out.Add(acts.Fact{Rule: "construct", Key: n.Type + " function", Line: n.Line, Code: n.Code, Counted: true,
			Text: "It has more functions of this kind than its parent: " + n.Type + ". What they return is not yet a result."})
	}
	inside := place{live: p.live && w.used(n), sure: true, path: p.path + "/function " + n.Name}
	for _, k := range n.Kids[:len(n.Kids)-1] {
		switch k.Op {
		case "param":
			w.checkName(k, k.Name)
			for _, q := range k.Kids {
				w.expr(q.Kids[0], s, p)
			}
		case "deco":
			w.note("decorator", w.r.form(k.Kids[0], s), k, "It decorates a function, and its parent does not do so here.")
			w.expr(k.Kids[0], s, p)
		default:
			w.expr(k, s, p)
		}
	}
	w.block(n.Kids[len(n.Kids)-1], n.scope, inside)
	w.names(n.scope)
	w.results(n)
}

// results notes whether what a function returns depends on anything.
func (w *walker) results(n *node) {
	if n.Op != "def" || n.Name == "" {
		return
	}
	forms := map[string]bool{}
	varied := false
	for _, ret := range returnsOf(n) {
		if len(ret.Kids) == 0 || w.dead[ret] {
			continue
		}
		varied = varied || !w.constant(ret.Kids[0], n.scope, 0)
		forms[w.r.form(ret.Kids[0], n.scope)] = true
	}
	input := slices.ContainsFunc(w.r.calls[n], func(c call) bool { return !w.all(c.n.Kids[1:], c.in, 0) })
	w.out.Functions[n.Name] = acts.Function{Varied: varied || len(forms) > 1, Used: w.used(n), Input: input, Line: n.Line}
}

// used reports whether a function can be called: from where it can be reached, or as a
// value. A function without a name is, unless it is only kept under one.
func (w *walker) used(fn *node) bool {
	if w.values[fn] || fn.Op == "func" && !w.kept[fn] {
		return true
	}
	if known, ok := w.reached[fn]; ok {
		return known
	}
	w.reached[fn] = false // while it is being found out
	w.reached[fn] = slices.ContainsFunc(w.r.calls[fn], func(c call) bool {
		return !w.dead[c.n] && (c.in.of == nil || c.in.of.Op == "class" || w.used(c.in.of))
	})
	return w.reached[fn]
}

func (w *walker) class(n *node, s *scope, p place) {
	w.note("class", n.text(), n, "It defines a class that its parent does not define.")
	w.checkName(n, n.Name)
	for _, k := range n.Kids {
		if k.Op == "block" {
			w.block(k, n.scope, p.in("class"))
		} else {
			w.statement(k, n.scope, p)
		}
	}
}

// checkName refuses names that cannot be told from others, and reports what hides a
// name of the language.
func (w *walker) checkName(n *node, name string) {
	if !acts.ASCII(name) {
		w.out.Add(acts.Fact{Rule: "look-alike", Key: name, Line: n.Line, Code: n.Code, Refused: true,
			Text: "A name has letters outside of ASCII, so that it may look like another."})
	}
	if w.d.builtins[name] && n.Op != "import" && n.Op != "from" {
		w.note("shadow", name, n, "The name "+name+" is given to something else.")
	}
	if reflective(name) && name != "__name__" {
		w.note("computed", "name "+name, n, "It defines a name that the interpreter treats in its own way: "+name+".")
	}
}

// names notes what a scope gives names to, and reports names that are two things.
func (w *walker) names(s *scope) {
	for name, b := range s.names {
		if b.kinds["import"] && len(b.kinds) == 1 {
			w.out.Uses[name] = true
			continue
		}
		w.out.Binds[name] = b.line
		w.out.Defs[name] += len(b.values)
		in := ""
		if s.of != nil {
			in = s.of.Name
		}
		w.out.Sets[in+" "+name] += len(b.values) + len(b.inside)
		if b.param {
			w.out.Sets[in+" "+name]++
		}
		if s.up != nil {
			if o := s.up.find(name); o != nil && (o.fn != nil || o.module != "") {
				w.out.Add(acts.Fact{Rule: "shadow", Key: "inner " + name, Line: b.line, Code: name, Text: "Inside a function, " + name + " is something else than outside of it."})
			}
		}
		if kinds := len(b.kinds); b.defs > 1 || kinds > 1 && (b.defs > 0 || b.module != "") {
			w.out.Add(acts.Fact{Rule: "shadow", Key: name, Line: b.line, Code: name, Text: "The name " + name + " is given to a function or a module and to something else."})
		}
	}
}
