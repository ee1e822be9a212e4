package script

import (
	"slices"
	"strconv"
	"strings"

	"github.com/skill-evolve/evolve/mutate/script/acts"
)

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
	f := acts.Short(r.formOf(n, s))
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
	for _, v := range slices.Concat(b.values, b.inside, b.given) {
		all = append(all, r.form(v.n, v.in)+v.part)
	}
	if b.fn != nil {
		all = append(all, b.fn.Op)
	}
	if b.module != "" {
		all = append(all, b.module)
	}
	b.busy = false
	b.form = acts.Union(all)
	return b.form
}

// given lists what the calls of a function put into one of its parameters. What is
// starred may be in any. A function that is an argument gets what the call's receiver
// and its other arguments have.
func (r *resolver) given(b *binding, fn *node) (out []valued) {
	ps := params(fn)
	at := slices.IndexFunc(ps, func(k *node) bool { return k.Name == b.name })
	if at < 0 {
		return nil
	}
	for _, c := range r.calls[fn] {
		for i, a := range c.n.Kids[1:] {
			switch {
			case a.Op == "star", a.Op == "kw" && (a.Name == "**" || ps[at].Type == "**"):
				out = append(out, valued{a, c.in, "*"})
			case a.Op == "kw" && a.Name == b.name:
				out = append(out, valued{a.Kids[0], c.in, ""})
			case a.Op != "kw" && i == at, a.Op != "kw" && i > at && ps[at].Type == "*":
				out = append(out, valued{a, c.in, ""})
			}
		}
	}
	for _, c := range r.passed[fn] {
		from := c.n.Kids[0]
		if from.Op == "attr" {
			from = from.Kids[0]
		}
		out = append(out, valued{from, c.in, " calls back"})
		for _, a := range c.n.Kids[1:] {
			if r.passedAs(a, c.in) == nil {
				out = append(out, valued{a, c.in, " calls back"})
			}
		}
	}
	return out
}

// passedAs is the local function that an argument is.
func (r *resolver) passedAs(a *node, s *scope) *node {
	if a.Op == "kw" {
		a = a.Kids[0]
	}
	return r.local(a, s)
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
	r.forms[fn] = "fn" + acts.Union(all)
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
