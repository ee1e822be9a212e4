package script

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/skill-evolve/evolve/mutate/script/acts"
)

// A node is a node of the tree that Python and JavaScript are both turned into, so that
// one walk judges both.
//
//	const  Name is the value, Type str, bytes, regexp, number, …
//	name, attr (object), index (object, key), call (callee, arguments), new (same)
//	kw, star, op, cond, list, dict, pair, fstr, fmt, each, comp, caught, default
//	assign (value, targets …), import, from, param, def, func, class, deco
//	block, expr, if (test, then, else), loop (head, body, else), switch, try (block,
//	handlers, else, finally), handler, with, return, raise, break, continue, del, global
//	unknown  Name is the construct
type node struct {
	Op   string  `json:"o"`
	Name string  `json:"n"`
	Type string  `json:"t"`
	Line int     `json:"l"`
	Code string  `json:"s"`
	Kids []*node `json:"k"`

	scope *scope // of a def, func or class: its own
}

// walk calls f for n and, where f returns true, for what is below it.
func (n *node) walk(f func(*node) bool) {
	if n == nil || !f(n) {
		return
	}
	for _, k := range n.Kids {
		k.walk(f)
	}
}

// text is the whole tree on one line: equal texts are the same code.
func (n *node) text() string {
	var b strings.Builder
	n.walk(func(n *node) bool {
		b.WriteString(n.Op + ":" + strconv.Quote(n.Name) + ":" + n.Type + "/" + strconv.Itoa(len(n.Kids)) + " ")
		return true
	})
	return acts.Short(b.String())
}

// A binding is a name in a scope and everything that is put into it.
type binding struct {
	name   string
	module string // an import: what it stands for; "" for others
	fn     *node  // a def
	defs   int    // how many defs have the name
	param  bool
	values []valued // in the order in which they are written
	inside []valued // what is put into the value: items, entries
	given  []valued // of a parameter: what calls give for it
	kinds  map[string]bool
	line   int
	form   string
	busy   bool
}

type valued struct {
	n  *node // nil: unknown
	in *scope
	// part is set where only a part of the value is put into the name: destructuring
	part string
}

type scope struct {
	up    *scope
	of    *node // the function; nil for the module
	names map[string]*binding
	outer map[string]bool // declared global or nonlocal
}

func newScope(up *scope, of *node) *scope {
	return &scope{up: up, of: of, names: map[string]*binding{}, outer: map[string]bool{}}
}

// find looks a name up; nil is a builtin or a global.
func (s *scope) find(name string) *binding {
	for ; s != nil; s = s.up {
		if b := s.names[name]; b != nil {
			return b
		}
	}
	return nil
}

func (s *scope) bind(name, kind string, line int) *binding {
	for s.outer[name] && s.up != nil {
		s = s.up
	}
	b := s.names[name]
	if b == nil {
		b = &binding{name: name, kinds: map[string]bool{}, line: line}
		s.names[name] = b
	}
	b.kinds[kind] = true
	return b
}

// resolver knows a whole text's names.
type resolver struct {
	lang   *dialect
	top    *scope
	scopes []*scope
	calls  map[*node][]call // the call sites of each local function
	passed map[*node][]call // the calls that have a local function as an argument
	forms  map[*node]string
	nested int
}

type call struct {
	n  *node
	in *scope
}

func resolve(tree *node, lang *dialect) *resolver {
	r := &resolver{lang: lang, top: newScope(nil, nil), calls: map[*node][]call{}, passed: map[*node][]call{}, forms: map[*node]string{}}
	r.scopes = []*scope{r.top}
	r.collect(tree, r.top)
	r.sites(tree, r.top)
	for _, s := range r.scopes {
		for _, b := range s.names {
			if b.param && s.of != nil {
				b.given = r.given(b, s.of)
			}
		}
	}
	for range 3 { // what a function puts into a parameter, and what one that it calls does
		r.spread()
	}
	return r
}

// collect makes the scopes and binds every name in them.
func (r *resolver) collect(n *node, s *scope) {
	switch n.Op {
	case "def", "func", "class":
		if n.Name != "" && (n.Op != "func" || n.Type == "named") {
			b := s.bind(n.Name, n.Op, n.Line)
			b.defs++
			if b.fn = n; n.Op == "class" {
				b.values = append(b.values, valued{nil, s, ""})
			}
		}
		n.scope = newScope(s, n)
		r.scopes = append(r.scopes, n.scope)
		n.walk(func(k *node) bool {
			if k.Op == "global" {
				for _, name := range strings.Fields(k.Name) {
					n.scope.outer[name] = true
				}
			}
			return k == n || k.Op != "def" && k.Op != "func" && k.Op != "class"
		})
		for _, k := range n.Kids {
			if k.Op == "param" {
				r.param(k, n.scope)
			}
			if k.Op == "deco" || k.Op == "default" {
				r.collect(k, s)
			} else {
				r.collect(k, n.scope)
			}
		}
		return
	case "import":
		name, module := n.Type, n.Name
		if name == "" { // import a.b binds a
			name, _, _ = strings.Cut(n.Name, ".")
			module = name
		}
		r.imports(s, n, name, module)
	case "from":
		r.imports(s, n, n.Type, n.Name)
	case "bind": // a name that the language gives a value
		b := s.bind(n.Name, "value", n.Line)
		b.values = append(b.values, valued{nil, s, ""})
	case "assign":
		for _, target := range n.Kids[1:] {
			r.target(target, valued{n.Kids[0], s, ""}, n.Name == "=", s)
		}
	}
	for _, k := range n.Kids {
		r.collect(k, s)
	}
}

func (r *resolver) imports(s *scope, n *node, name, module string) {
	b := s.bind(name, "import", n.Line)
	if b.module != "" && b.module != module {
		b.kinds["another import"] = true
	}
	b.module = module
}

func (r *resolver) param(p *node, s *scope) {
	if p.Name == "" { // destructured: its assign nodes follow in the body
		return
	}
	b := s.bind(p.Name, "param", p.Line)
	b.param = true
	for _, k := range p.Kids {
		if k.Op == "default" && len(k.Kids) > 0 {
			b.values = append(b.values, valued{k.Kids[0], s.up, ""})
		}
	}
}

// target binds the names of an assignment's left side.
func (r *resolver) target(t *node, v valued, plain bool, s *scope) {
	switch t.Op {
	case "name":
		if !plain { // x += value: x holds a computation of both
			v.part += "+"
		}
		b := s.bind(t.Name, "value", t.Line)
		b.values = append(b.values, v)
	case "list", "star":
		for i, k := range t.Kids {
			part := v
			if t.Op == "list" && v.part == "" && v.n != nil && v.n.Op == "list" && len(v.n.Kids) == len(t.Kids) && !starred(t) && !starred(v.n) {
				part.n = v.n.Kids[i] // a, b = 1, 2
			} else {
				part.part += "[" + strconv.Itoa(i) + "]"
			}
			r.target(k, part, plain, s)
		}
	}
}

func starred(n *node) bool {
	return slices.ContainsFunc(n.Kids, func(k *node) bool { return k.Op == "star" })
}

// sites finds the call sites of local functions.
func (r *resolver) sites(n *node, s *scope) {
	if n.scope != nil {
		s = n.scope
	}
	if n.Op == "call" || n.Op == "new" {
		if fn := r.local(n.Kids[0], s); fn != nil {
			r.calls[fn] = append(r.calls[fn], call{n, s})
		}
		for _, a := range n.Kids[1:] {
			if fn := r.passedAs(a, s); fn != nil {
				r.passed[fn] = append(r.passed[fn], call{n, s})
			}
		}
	}
	r.puts(n, s)
	for _, k := range n.Kids {
		r.sites(k, s)
	}
}

// puts notes what is put into a name's value: by a method, or into an entry.
func (r *resolver) puts(n *node, s *scope) {
	switch {
	case n.Op == "call" && n.Kids[0].Op == "attr" && (changes[n.Kids[0].Name] || n.Kids[0].Name == "insert"):
		if b := r.rootOf(n.Kids[0].Kids[0], s); b != nil {
			for _, a := range n.Kids[1:] {
				b.inside = append(b.inside, valued{a, s, "." + n.Kids[0].Name})
			}
		}
	case n.Op == "assign":
		for _, t := range n.Kids[1:] {
			if t.Op != "attr" && t.Op != "index" {
				continue
			}
			if b := r.rootOf(t.Kids[0], s); b != nil {
				b.inside = append(b.inside, valued{n.Kids[0], s, "[]"})
			}
		}
	}
}

// rootOf is the name that an expression like a.b[c] begins with; nil if it is another.
func (r *resolver) rootOf(n *node, s *scope) *binding {
	for n.Op == "attr" || n.Op == "index" {
		n = n.Kids[0]
	}
	if n.Op != "name" {
		return nil
	}
	return s.find(n.Name)
}

// spread carries what is put into a value on to the other names that it has: what a call
// gives for a parameter, and what a variable was made of.
func (r *resolver) spread() {
	for _, s := range r.scopes {
		for _, name := range slices.Sorted(maps.Keys(s.names)) {
			b := s.names[name]
			if len(b.inside) == 0 {
				continue
			}
			for _, v := range slices.Concat(b.values, b.given) {
				if v.n != nil {
					r.carry(b, v.n, v.in)
				}
			}
		}
	}
}

func (r *resolver) carry(from *binding, n *node, s *scope) {
	if n.Op == "each" || n.Op == "star" {
		n = n.Kids[0]
	}
	if to := r.rootOf(n, s); to != nil && to != from {
		to.put(from.inside)
	}
}

func (b *binding) put(vs []valued) {
	for _, v := range vs {
		if !slices.Contains(b.inside, v) {
			b.inside = append(b.inside, v)
		}
	}
}

// local is the local function that a callee names; nil if it is another thing, or one of
// several.
func (r *resolver) local(callee *node, s *scope) *node {
	if callee.Op == "func" {
		return callee
	}
	if callee.Op != "name" {
		return nil
	}
	b := s.find(callee.Name)
	switch {
	case b == nil || b.module != "" || b.param:
		return nil
	case b.fn != nil && b.defs == 1 && b.fn.Op != "class" && len(b.values) == 0:
		return b.fn
	case b.fn == nil && len(b.values) == 1 && b.values[0].n != nil && b.values[0].n.Op == "func" && b.values[0].part == "":
		return b.values[0].n
	}
	return nil
}

// dotted is the name of a thing of the language or of a module that an expression
// stands for, through imports and through variables that only ever hold that thing.
func (r *resolver) dotted(n *node, s *scope) (string, bool) {
	return r.dottedDeep(n, s, 0)
}

func (r *resolver) dottedDeep(n *node, s *scope, depth int) (string, bool) {
	if n == nil || depth > 20 {
		return "", false
	}
	switch n.Op {
	case "name":
		b := s.find(n.Name)
		if b == nil {
			return n.Name, true
		}
		if len(b.kinds) != 1 || b.param {
			return "", false
		}
		if b.module != "" {
			return b.module, true
		}
		if len(b.values) == 1 && b.values[0].n != nil && b.values[0].part == "" {
			return r.dottedDeep(b.values[0].n, b.values[0].in, depth+1)
		}
	case "attr":
		d, ok := r.dottedDeep(n.Kids[0], s, depth+1)
		return d + "." + n.Name, ok
	case "call":
		return r.lang.required(n, s)
	}
	return "", false
}
