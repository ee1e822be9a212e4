package script

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
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
	return short(b.String())
}

// short keeps keys small; equal texts stay equal, others differ.
func short(s string) string {
	if len(s) <= 200 {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	return s[:60] + "…" + hex.EncodeToString(sum[:12])
}

// A binding is a name in a scope and everything that is put into it.
type binding struct {
	name   string
	module string // an import: what it stands for; "" for others
	fn     *node  // a def
	defs   int    // how many defs have the name
	param  bool
	values []valued // in the order in which they are written
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
	calls  map[*node][]call // the call sites of each local function
	forms  map[*node]string
	nested int
}

type call struct {
	n  *node
	in *scope
}

func resolve(tree *node, lang *dialect) *resolver {
	r := &resolver{lang: lang, top: newScope(nil, nil), calls: map[*node][]call{}, forms: map[*node]string{}}
	r.collect(tree, r.top)
	r.sites(tree, r.top)
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
			part.part += "[" + strconv.Itoa(i) + "]"
			r.target(k, part, plain, s)
		}
	}
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
	}
	for _, k := range n.Kids {
		r.sites(k, s)
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

// form describes where a value comes from, whatever its variables are called: equal
// forms are computed alike of the same constants, inputs and calls.
func (r *resolver) form(n *node, s *scope) string {
	if n == nil {
		return "?"
	}
	if f, ok := r.forms[n]; ok {
		return f
	}
	if r.nested++; r.nested > 400 {
		r.nested--
		return "deep " + n.text()
	}
	f := short(r.formOf(n, s))
	r.nested--
	if r.nested == 0 || !strings.Contains(f, "↺") {
		r.forms[n] = f
	}
	return f
}

func (r *resolver) formOf(n *node, s *scope) string {
	if d, ok := r.dotted(n, s); ok {
		return d
	}
	switch n.Op {
	case "const":
		return n.Type + strconv.Quote(n.Name)
	case "name":
		if b := s.find(n.Name); b != nil {
			return r.bound(b)
		}
	case "func", "def":
		return "function"
	case "attr":
		return r.form(n.Kids[0], s) + "." + n.Name
	case "call", "new":
		callee := ""
		if fn := r.local(n.Kids[0], s); fn != nil {
			callee = r.returns(fn)
		} else {
			callee = r.form(n.Kids[0], s)
		}
		return n.Op + " " + callee + r.args(n, s)
	}
	parts := make([]string, len(n.Kids))
	for i, k := range n.Kids {
		parts[i] = r.form(k, s)
	}
	return n.Op + " " + n.Name + "(" + strings.Join(parts, ", ") + ")"
}

func (r *resolver) args(n *node, s *scope) string {
	parts := make([]string, 0, len(n.Kids))
	for _, k := range n.Kids[1:] {
		parts = append(parts, r.form(k, s))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// bound is the form of a name: all that is ever put into it.
func (r *resolver) bound(b *binding) string {
	if b.form != "" {
		return b.form
	}
	if b.busy {
		return "↺"
	}
	b.busy = true
	var all []string
	for _, v := range b.values {
		all = append(all, r.form(v.n, v.in)+v.part)
	}
	if b.param {
		all = append(all, r.given(b)...)
	}
	if b.fn != nil {
		all = append(all, b.fn.Op)
	}
	if b.module != "" {
		all = append(all, b.module)
	}
	b.busy = false
	b.form = union(all)
	return b.form
}

// given lists what the call sites of a function put into a parameter.
func (r *resolver) given(b *binding) (out []string) {
	for fn, sites := range r.calls {
		if fn.scope == nil || fn.scope.names[b.name] != b {
			continue
		}
		at := -1
		for i, k := range params(fn) {
			if k.Name == b.name {
				at = i
			}
		}
		for _, c := range sites {
			args := c.n.Kids[1:]
			named := slices.IndexFunc(args, func(a *node) bool { return a.Op == "kw" && a.Name == b.name })
			switch {
			case named >= 0:
				out = append(out, r.form(args[named].Kids[0], c.in))
			case at >= 0 && at < len(args):
				out = append(out, r.form(args[at], c.in))
			}
		}
		return out
	}
	return []string{"given"}
}

func params(fn *node) (out []*node) {
	for _, k := range fn.Kids {
		if k.Op == "param" {
			out = append(out, k)
		}
	}
	return out
}

// returns is the union of what a local function returns.
func (r *resolver) returns(fn *node) string {
	if f, ok := r.forms[fn]; ok {
		return f
	}
	r.forms[fn] = "↺"
	var all []string
	for _, ret := range returnsOf(fn) {
		if len(ret.Kids) > 0 {
			all = append(all, r.form(ret.Kids[0], fn.scope))
		}
	}
	r.forms[fn] = "fn" + union(all)
	return r.forms[fn]
}

// returnsOf lists the return statements of a function, not those of functions in it.
func returnsOf(fn *node) (out []*node) {
	for _, k := range fn.Kids {
		k.walk(func(n *node) bool {
			if n.Op == "return" {
				out = append(out, n)
			}
			return n.Op != "def" && n.Op != "func" && n.Op != "class"
		})
	}
	return out
}

// union is a form for any one of several.
func union(forms []string) string {
	slices.Sort(forms)
	return short("{" + strings.Join(slices.Compact(forms), " | ") + "}")
}
