package script

import (
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/script/acts"
)

// changes are methods that change what they are called on.
var changes = acts.Set("append extend add update setdefault sort reverse push unshift set splice fill pop shift insert remove discard")

// shrinks are those after which a list of the script has less.
var shrinks = acts.Set("pop shift splice remove discard")

// copies are methods that make a new value.
var copies = acts.Set("split splitlines findall copy map filter slice concat match rsplit flatMap")

// fresh are calls that make a new value.
var fresh = acts.Set("set dict list sorted bytearray Set Map Array Array.from Object.keys Object.values Object.entries re.findall re.split shlex.split")

// own reports whether a value was made in the script, so that changing it changes
// nothing else.
func (w *walker) own(n *node, s *scope, depth int) bool {
	if depth == 0 {
		w.owned = map[*node]bool{}
	}
	if w.owned[n] { // all that a value can be has to be own, so what is seen decides nothing more
		return true
	}
	w.owned[n] = true
	return w.isOwn(n, s, depth)
}

// atTop reports whether a value is kept under a name of the script itself.
func (w *walker) atTop(n *node, s *scope) bool {
	b := w.r.rootOf(n, s)
	return b != nil && w.r.top.names[b.name] == b
}

func (w *walker) isOwn(n *node, s *scope, depth int) bool {
	switch n.Op {
	case "list", "dict", "comp":
		return true
	case "attr", "index":
		return w.own(n.Kids[0], s, depth+1)
	case "call", "new":
		if d, ok := w.r.dotted(n.Kids[0], s); ok {
			return fresh[d]
		}
		return n.Kids[0].Op == "attr" && (copies[n.Kids[0].Name] || w.own(n.Kids[0].Kids[0], s, depth+1))
	case "name":
		return w.ownName(n, s, depth)
	}
	return false
}

func (w *walker) ownName(n *node, s *scope, depth int) bool {
	b := s.find(n.Name)
	if b == nil || b.module != "" || b.fn != nil {
		return false
	}
	made := 0
	for _, v := range b.values {
		if v.n == nil || !strings.HasSuffix(v.part, "+") && (v.part != "" || !w.own(v.n, v.in, depth+1)) {
			return false
		}
		made++
	}
	if !b.param {
		return made > 0
	}
	return len(b.given) > 0 && !slices.ContainsFunc(b.given, func(v valued) bool { return v.part != "" || !w.own(v.n, v.in, depth+1) })
}

// empties are assignments that may make a list or a text empty.
var empties = acts.Set("Mult= *= BitAnd= &= &&= Mod= %= FloorDiv=")

// overwrites reports a constant that always replaces what was computed before: then
// nothing depends on that any more.
func (w *walker) overwrites(t, n *node, s *scope, p place) {
	value := n.Kids[0]
	b := s.find(t.Name)
	if empties[n.Name] {
		w.note("overwritten", n.text(), n, "It changes a value in place in a way that may empty it: "+acts.Clip(n.Code)+".")
	}
	if b == nil || !p.sure || n.Name != "=" || !w.constant(value, s, 0) && !(value.Op == "list" || value.Op == "dict") {
		return
	}
	before := b.param
	for _, v := range b.values {
		if v.n == value {
			break
		}
		before = before || v.n == nil || v.n.Op != "func" && !w.constant(v.n, v.in, 0)
	}
	if before {
		w.out.Add(acts.Fact{Rule: "overwritten", Key: w.r.form(value, s), Line: n.Line, Code: n.Code, Counted: true, Of: t.Name,
			Text: "It replaces what was computed by a constant: " + acts.Clip(n.Code) + "."})
	}
}

// effect reports a statement that does nothing, where a call may have been meant, or
// only fails.
func (w *walker) effect(n *node, s *scope) {
	switch n.Op {
	case "name", "attr", "index", "func", "list", "dict", "op", "fstr":
		idle := true
		n.walk(func(k *node) bool {
			idle = idle && k.Op != "call" && k.Op != "new" && k.Op != "assign" && k.Op != "unknown"
			return idle && k.Op != "func"
		})
		if idle && n.Name != "await" {
			w.note("no-effect", n.text(), n, "This statement does nothing: a call may be missing.")
		}
	}
}

// endless reports a loop in which nothing that its condition reads changes.
func (w *walker) endless(n *node) {
	reads := map[string]bool{}
	stops := false
	n.Kids[0].walk(func(k *node) bool {
		if k.Op == "name" {
			reads[k.Name] = true
		}
		stops = stops || k.Op == "call" || k.Op == "assign"
		return true
	})
	for _, body := range n.Kids[1:] {
		body.walk(func(k *node) bool {
			switch k.Op {
			case "break", "return", "raise":
				stops = true
			case "assign":
				for _, t := range k.Kids[1:] {
					t.walk(func(x *node) bool { stops = stops || x.Op == "name" && reads[x.Name]; return true })
				}
			case "call":
				c := k.Kids[0]
				stops = stops || c.Op == "attr" && c.Kids[0].Op == "name" && reads[c.Kids[0].Name]
			}
			return true
		})
	}
	if !stops {
		w.note("endless", n.text(), n, "This loop may never end, and an agent does not wait for its hook.")
	}
}

// sources lists what a value is computed of beside the text of the script: the hook's
// input, the environment, calls.
func (w *walker) sources(n *node, s *scope) string { return w.sourcesOf([]*node{n}, s) }

func (w *walker) sourcesOf(ns []*node, s *scope) string {
	found := map[string]bool{}
	seen := map[*node]bool{}
	for _, n := range ns {
		w.source(n, s, found, seen)
	}
	var out []string
	for f := range found {
		out = append(out, f)
	}
	return acts.Union(out)
}

func (w *walker) source(n *node, s *scope, found map[string]bool, seen map[*node]bool) {
	if n == nil || seen[n] {
		return
	}
	seen[n] = true
	if n.Op == "func" || n.Op == "const" {
		return
	}
	if path, ok := w.field(n, s, 0); ok {
		found[path] = true
		return
	}
	if d, ok := w.r.dotted(n, s); ok {
		if !w.isPure(d) || strings.Contains(d, "stdin") {
			found[d] = true
		}
		return
	}
	if n.Op == "name" {
		if b := s.find(n.Name); b != nil {
			w.sourceOfName(b, found, seen)
		}
		return
	}
	if n.Op == "caught" {
		found["what a handler caught"] = true
	}
	if n.Op == "call" {
		if fn := w.r.local(n.Kids[0], s); fn != nil {
			for _, ret := range returnsOf(fn) {
				w.source(ret, fn.scope, found, seen)
			}
			return
		}
	}
	for _, k := range n.Kids {
		w.source(k, s, found, seen)
	}
}

func (w *walker) sourceOfName(b *binding, found map[string]bool, seen map[*node]bool) {
	for _, v := range slices.Concat(b.values, b.inside, b.given) {
		w.source(v.n, v.in, found, seen)
	}
}

// parses make values of a text; the fields that are read of them are what tells sources
// apart.
var parses = acts.Set("json.load json.loads JSON.parse")

// field names an entry of what was parsed: the command of an event is another source
// than the event.
func (w *walker) field(n *node, s *scope, depth int) (string, bool) {
	if depth > 20 {
		return "", false
	}
	switch n.Op {
	case "name":
		b := s.find(n.Name)
		if b == nil {
			return "", false
		}
		return w.fieldOfName(b, depth)
	case "attr":
		path, ok := w.field(n.Kids[0], s, depth+1)
		return path + "." + n.Name, ok
	case "index":
		path, ok := w.field(n.Kids[0], s, depth+1)
		return path + "." + n.Kids[1].Name, ok && n.Kids[1].Op == "const"
	case "op": // event.get("tool_input") or {}
		if len(n.Kids) == 2 && (booleanOp(n.Name) || n.Name == "??") && (n.Kids[1].Op == "dict" || n.Kids[1].Op == "const") {
			return w.field(n.Kids[0], s, depth+1)
		}
	case "call":
		d, dotted := w.r.dotted(n.Kids[0], s)
		if dotted && parses[d] && len(n.Kids) > 1 {
			return "parsed of " + w.sources(n.Kids[1], s), true
		}
		if get := n.Kids[0]; !dotted && get.Op == "attr" && get.Name == "get" && len(n.Kids) > 1 && n.Kids[1].Op == "const" {
			path, ok := w.field(get.Kids[0], s, depth+1)
			return path + "." + n.Kids[1].Name, ok
		}
	}
	return "", false
}

func (w *walker) fieldOfName(b *binding, depth int) (string, bool) {
	if len(b.values) == 1 && !b.param && b.values[0].n != nil && b.values[0].part == "" {
		return w.field(b.values[0].n, b.values[0].in, depth+1)
	}
	if len(b.given) == 1 && len(b.values) == 0 && b.given[0].part == "" {
		return w.field(b.given[0].n, b.given[0].in, depth+1)
	}
	return "", false
}

// stated walks an expression that is sure to be evaluated where it stands.
func (w *walker) stated(n *node, s *scope, p place) {
	if n.Op == "op" && n.Name == "await" {
		n = n.Kids[0]
	}
	if fn := w.called(n, s); fn != nil {
		how := "as a statement"
		if s.of != nil && s.of.Op == "func" {
			how = "in a callback"
		}
		w.blocking(fn, how, s, p)
		if n.Kids[0].Op == "func" {
			w.function(n.Kids[0], s, p)
		}
		for _, a := range n.Kids[1:] {
			w.expr(a, s, p)
		}
		return
	}
	w.expr(n, s, p)
}

// blocking notes the calls of functions that can end the script or answer for it: each
// is a place where the guard holds.
func (w *walker) blocking(fn *node, how string, s *scope, p place) {
	if fn.Name != "" && p.live && w.blocks(fn) {
		w.guards = append(w.guards, guard{fn, how, s.of})
	}
}

// A guard is a call of a function that can block, and the function in which it is; nil is
// the script itself.
type guard struct {
	fn  *node
	how string
	in  *node
}

// countGuards counts the ways to each of these calls: two calls of a helper that calls
// once are as many as two calls.
func (w *walker) countGuards() {
	ways := map[*node]int{}
	var to func(fn *node) int
	to = func(fn *node) int {
		if fn == nil || fn.Op != "def" {
			return 1
		}
		if n, ok := ways[fn]; ok {
			return n
		}
		ways[fn] = 0 // while they are counted
		n := 0
		if w.values[fn] {
			n = 1
		}
		for _, g := range w.guards {
			if g.fn == fn {
				n = min(n+to(g.in), 1000)
			}
		}
		ways[fn] = n
		return n
	}
	for _, g := range w.guards {
		w.out.Keeps["a call of "+g.fn.Name+" "+g.how] += to(g.in)
	}
}

func (w *walker) blocks(fn *node) bool {
	if known, ok := w.blockers[fn]; ok {
		return known
	}
	w.blockers[fn] = false // while it is being found out
	var look func(n *node, s *scope) bool
	look = func(n *node, s *scope) bool {
		if n.scope != nil {
			s = n.scope
		}
		if n.Op == "call" {
			d, ok := w.r.dotted(n.Kids[0], s)
			if ok && (w.d.exits[d] || d == "SystemExit") {
				return true
			}
			if to := w.r.local(n.Kids[0], s); to != nil && w.blocks(to) {
				return true
			}
		}
		return slices.ContainsFunc(n.Kids, func(k *node) bool { return look(k, s) })
	}
	w.blockers[fn] = look(fn, fn.scope.up)
	return w.blockers[fn]
}
