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
	for _, v := range slices.Concat(b.values, b.inside) {
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
	b.form = acts.Union(all)
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
