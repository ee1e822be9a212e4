package script

import "github.com/skill-evolve/evolve/mutate/script/acts"

// prepare finds dead statements and functions that are used as values.
func (w *walker) prepare(n *node, s *scope) {
	if n.scope != nil {
		s = n.scope
	}
	if n.Op == "block" {
		ended := false
		for _, k := range n.Kids {
			if ended && k.Op != "def" {
				k.walk(func(d *node) bool { w.dead[d] = true; return true })
			}
			ended = ended || w.ends(k, s) != acts.GoesOn
		}
	}
	if n.Op == "assign" && n.Kids[0].Op == "func" {
		w.kept[n.Kids[0]] = true
	}
	for i, k := range n.Kids {
		if k.Op == "name" && (i > 0 || n.Op != "call") && n.Op != "expr" && (n.Op != "assign" || i == 0) {
			if b := s.find(k.Name); b != nil {
				w.valued(b)
			}
		}
		w.prepare(k, s)
	}
}

// valued marks the function that a name stands for as used.
func (w *walker) valued(b *binding) {
	if b.fn != nil {
		w.values[b.fn] = true
	}
	for _, v := range b.values {
		if v.n != nil && v.n.Op == "func" {
			w.values[v.n] = true
		}
	}
}

// ends reports how a statement ends its block, if it always does.
func (w *walker) ends(n *node, s *scope) acts.Ending {
	switch n.Op {
	case "return", "break", "continue":
		return acts.Leaves
	case "raise":
		return acts.Exits
	case "block":
		for _, k := range n.Kids {
			if e := w.ends(k, s); e != acts.GoesOn {
				return e
			}
		}
	case "if":
		return min(w.ends(n.Kids[1], s), w.ends(n.Kids[2], s))
	case "with", "label":
		return w.ends(n.Kids[len(n.Kids)-1], s)
	case "try":
		least := w.ends(n.Kids[0], s)
		for _, h := range n.Kids[1:] {
			last := h.Kids[len(h.Kids)-1]
			if h.Op == "handler" {
				least = min(least, w.ends(last, s))
			} else if e := w.ends(last, s); h.Op == "finally" && e != acts.GoesOn {
				return e
			}
		}
		return least
	case "expr":
		return w.endsCall(n.Kids[0], s)
	}
	return acts.GoesOn
}

func (w *walker) endsCall(n *node, s *scope) acts.Ending {
	if n.Op != "call" {
		return acts.GoesOn
	}
	if d, ok := w.r.dotted(n.Kids[0], s); ok && (w.d.exits[d] || quits[d]) {
		return acts.Exits
	}
	fn := w.r.local(n.Kids[0], s)
	if fn == nil || len(returnsOf(fn)) > 0 {
		return acts.GoesOn
	}
	how, ok := w.endings[fn]
	if !ok {
		w.endings[fn] = acts.GoesOn // while it is being found out
		how = w.ends(fn.Kids[len(fn.Kids)-1], fn.scope)
		w.endings[fn] = how
	}
	if how == acts.Leaves {
		return acts.GoesOn
	}
	return how
}

// quits end the script in other ways; each is a finding of its own.
var quits = acts.Set("os._exit exit quit os.abort process.abort process.kill process.reallyExit os.execv os.execvp")
