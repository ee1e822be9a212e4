package script

func (w *walker) assign(n *node, s *scope, p place) {
	w.expr(n.Kids[0], s, p)
	for _, t := range n.Kids[1:] {
		w.assigned(t, n, s, p)
	}
}

func (w *walker) assigned(t, n *node, s *scope, p place) {
	value := n.Kids[0]
	switch t.Op {
	case "name":
		w.checkName(t, t.Name)
		w.overwrites(t, n, s, p)
		if b := s.find(t.Name); b == nil { // JavaScript: no declaration
			w.note("write", t.Name, n, "It assigns to a name that it does not declare: "+t.Name+".")
		}
		if s.up == nil && (value.Op == "list" || value.Op == "dict") {
			w.out.Filled[t.Name] = w.out.Filled[t.Name] || len(value.Kids) > 0
		}
	case "list", "star":
		for i, k := range t.Kids {
			one := *n
			if t.Op == "list" && value.Op == "list" && len(value.Kids) == len(t.Kids) && !starred(t) && !starred(value) {
				one.Kids = []*node{value.Kids[i], k}
			} else {
				one.Kids = []*node{{Op: "op", Name: "part", Kids: []*node{value, {Op: "caught"}}}, k}
			}
			w.assigned(k, &one, s, p)
		}
	case "attr", "index":
		w.stores(t, value, n, s, p)
	default:
		w.note("construct", "assign to "+t.Op, n, "It assigns to something that is not known: "+t.Op+".")
	}
}

// stores is an assignment to an attribute or an entry.
func (w *walker) stores(t, value, n *node, s *scope, p place) {
	if d, ok := w.r.dotted(t.Kids[0], s); ok {
		w.root(t.Kids[0], s)
		key := d + "." + t.Name
		if t.Op == "index" {
			key = d + "[" + w.r.form(t.Kids[1], s) + "]"
		}
		w.note("write", key+" = "+w.r.form(value, s), n, "It changes "+d+", which its parent does not do so.")
		return
	}
	w.expr(t.Kids[0], s, p)
	slice := t.Op == "index" && t.Kids[1].Op == "op" && t.Kids[1].Name == "Slice"
	if slice || !w.own(t.Kids[0], s, 0) {
		w.note("write", w.r.form(t, s)+" = "+w.r.form(value, s), n, "It changes a value that is not its own, such as the event.")
	}
	if t.Op == "index" {
		w.expr(t.Kids[1], s, p)
		if t.Kids[1].Op == "const" {
			w.decides(t.Kids[1].Name, value, n, s)
		} else if w.d.lang == JavaScript { // the key may be __proto__
			w.note("write", "entry ["+w.r.form(t.Kids[1], s)+"]", n, "It sets an entry with a computed name, which can be the prototype of everything.")
		}
		return
	}
	w.decides(t.Name, value, n, s)
	switch {
	case reflective(t.Name):
		w.computed(n, s)
	case w.d.lang == Python, w.d.methods[t.Name] && t.Name != "input", value.Op == "func", t.Name == "then":
		w.note("write", "attribute "+t.Name, n, "It sets the attribute "+t.Name+", which its parent does not set.")
	}
}
