package script

import (
	"slices"
	"strconv"
	"strings"

	"github.com/skill-evolve/evolve/mutate/script/acts"
)

// condition reports a test whose result is known.
func (w *walker) condition(n *node, s *scope, p place) {
	if w.constant(n, s, 0) {
		w.note("constant-condition", w.r.form(n, s), n, "This condition does not depend on anything: "+acts.Clip(n.Code)+".")
		return
	}
	n.walk(func(k *node) bool {
		if k.Op == "op" && k.Name != "" && booleanOp(k.Name) {
			for _, side := range k.Kids {
				if w.constant(side, s, 0) {
					w.note("constant-condition", w.r.form(k, s), k, "A part of this condition does not depend on anything: "+acts.Clip(side.Code)+".")
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
		w.note("constant-condition", n.text(), n, "It compares a thing with itself.")
	case (n.Name == "In" || n.Name == "NotIn") && w.r.form(n.Kids[0], s) == `str""`:
		w.note("matches-everything", "in "+w.r.form(n.Kids[1], s), n, "Every text contains an empty one.")
	case n.Name == "Pow" || n.Name == "**" || (n.Name == "Mult" || n.Name == "*") && slices.ContainsFunc(n.Kids, huge):
		w.note("size", w.r.form(n, s), n, "It computes something that may be very large, or nothing.")
	case slices.ContainsFunc(n.Kids, func(k *node) bool { d, ok := w.r.dotted(k, s); return ok && (d == "__name__" || d == "require.main") }):
		w.note("entry", w.r.form(n, s), n, "It decides in another way whether the script is the main program.")
	case booleanOp(n.Name):
		for _, k := range n.Kids {
			if (n.Name == "And" || n.Name == "&&") && falsy(k) || k.Op == "const" && (k.Type == "bool" || k.Type == "int" || k.Type == "number") {
				w.note("constant-condition", w.r.form(n, s), n, "A part of this does not depend on anything: "+k.Code+".")
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
	if known, ok := w.constants[n]; ok || depth > 30 {
		return known
	}
	w.constants[n] = false // while it is being found out
	w.constants[n] = w.isConstant(n, s, depth)
	return w.constants[n]
}

func (w *walker) isConstant(n *node, s *scope, depth int) bool {
	if n.Op == "op" && n.Name == "comma" {
		return w.constant(n.Kids[len(n.Kids)-1], s, depth+1)
	}
	switch n.Op {
	case "const", "func":
		return true
	case "name":
		b := s.find(n.Name)
		if b != nil && b.fn != nil && b.fn.Op != "class" {
			return true // the function itself, which is not called
		}
		if b == nil || b.param || b.fn != nil || b.module != "" || len(b.values) != 1 || len(b.inside) > 0 {
			return false
		}
		if v := b.values[0]; v.n != nil && v.n.Op == "each" {
			return w.constantList(v.n.Kids[0], v.in, depth+1)
		}
		v := b.values[0]
		return v.n != nil && v.part == "" && v.n.Op != "list" && v.n.Op != "dict" && v.n.Op != "comp" && v.n.Op != "each" && v.n.Op != "call" && v.n.Op != "new" && w.constant(v.n, v.in, depth+1)
	case "attr":
		_, ok := w.r.dotted(n, s)
		return !ok && w.d.lang == Python && w.d.methods[n.Name] && n.Name != "pattern"
	case "assign":
		return n.Name == "=" && w.constant(n.Kids[0], s, depth+1)
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

// constantList reports whether what a loop goes over is in the text.
func (w *walker) constantList(n *node, s *scope, depth int) bool {
	if n.Op == "list" {
		return w.all(n.Kids, s, depth)
	}
	if n.Op != "name" || depth > 30 {
		return false
	}
	b := s.find(n.Name)
	return b != nil && !b.param && b.fn == nil && len(b.values) == 1 && len(b.inside) == 0 && b.values[0].n != nil && b.values[0].part == "" &&
		b.values[0].n.Op == "list" && w.all(b.values[0].n.Kids, b.values[0].in, depth)
}

func falsy(n *node) bool {
	switch n.Op {
	case "const":
		return n.Name == "" || n.Name == "0" || n.Type == "NoneType" || n.Type == "null"
	case "list", "dict":
		return len(n.Kids) == 0
	}
	return n.Op == "name" && n.Name == "undefined"
}

func huge(n *node) bool {
	x, err := strconv.ParseFloat(strings.ReplaceAll(n.Name, "_", ""), 64)
	return n.Op == "const" && err == nil && (x >= 10000 || x <= 0)
}
