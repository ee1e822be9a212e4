package script

import "strings"

// condition reports a test whose result is known.
func (w *walker) condition(n *node, s *scope, p place) {
	if w.constant(n, s, 0) {
		w.fact("constant-condition", w.r.form(n, s), n, "This condition does not depend on anything: "+clip(n.Code)+".")
		return
	}
	n.walk(func(k *node) bool {
		if k.Op == "op" && k.Name != "" && booleanOp(k.Name) {
			for _, side := range k.Kids {
				if w.constant(side, s, 0) {
					w.fact("constant-condition", w.r.form(k, s), k, "A part of this condition does not depend on anything: "+clip(side.Code)+".")
				}
			}
		}
		return k.Op != "func" && k.Op != "call"
	})
}

func booleanOp(name string) bool {
	return name == "And" || name == "Or" || name == "&&" || name == "||"
}

// op reports comparisons whose result is known, and `or True`.
func (w *walker) op(n *node, s *scope) {
	switch {
	case len(n.Kids) == 2 && comparison(n.Name) && w.r.form(n.Kids[0], s) == w.r.form(n.Kids[1], s) && n.Kids[0].text() == n.Kids[1].text():
		w.fact("constant-condition", n.text(), n, "It compares a thing with itself.")
	case (n.Name == "In" || n.Name == "NotIn") && w.r.form(n.Kids[0], s) == `str""`:
		w.fact("matches-everything", "in "+w.r.form(n.Kids[1], s), n, "Every text contains an empty one.")
	case booleanOp(n.Name):
		for _, k := range n.Kids {
			if k.Op == "const" && (k.Type == "bool" || k.Type == "int" || k.Type == "number") {
				w.fact("constant-condition", w.r.form(n, s), n, "A part of this does not depend on anything: "+k.Code+".")
			}
		}
	}
}

func comparison(name string) bool {
	switch name {
	case "Eq", "NotEq", "Is", "IsNot", "In", "NotIn", "Lt", "LtE", "Gt", "GtE", "==", "===", "!=", "!==", "<", ">", "<=", ">=":
		return true
	}
	return false
}

// constant reports whether a value depends on no input: it is computed of literals, and
// of variables that have one such value and are not changed.
func (w *walker) constant(n *node, s *scope, depth int) bool {
	if depth > 30 {
		return false
	}
	switch n.Op {
	case "const", "func":
		return true
	case "name":
		b := s.find(n.Name)
		if b == nil || b.param || b.fn != nil || b.module != "" || len(b.values) != 1 {
			return false
		}
		v := b.values[0]
		return v.n != nil && v.part == "" && v.n.Op != "list" && v.n.Op != "dict" && v.n.Op != "comp" && v.n.Op != "each" && v.n.Op != "call" && v.n.Op != "new" && w.constant(v.n, v.in, depth+1)
	case "op", "cond", "list", "fstr", "fmt", "dict", "pair":
		return w.all(n.Kids, s, depth)
	case "call", "new":
		d, ok := w.r.dotted(n.Kids[0], s)
		switch {
		case ok && w.isPure(d) && !strings.HasPrefix(d, "sys.") && d != "json.load":
			return w.all(n.Kids[1:], s, depth)
		case !ok && n.Kids[0].Op == "attr" && w.d.methods[n.Kids[0].Name]:
			return w.constant(n.Kids[0].Kids[0], s, depth+1) && w.all(n.Kids[1:], s, depth)
		}
		if fn := w.r.local(n.Kids[0], s); fn != nil {
			rets := returnsOf(fn)
			for _, ret := range rets {
				if len(ret.Kids) > 0 && !w.constant(ret.Kids[0], fn.scope, depth+1) {
					return false
				}
			}
			return len(rets) == 1 // with several, what decides between them is not looked at
		}
	}
	return false
}

func (w *walker) all(ns []*node, s *scope, depth int) bool {
	for _, k := range ns {
		if !w.constant(k, s, depth+1) {
			return false
		}
	}
	return true
}
