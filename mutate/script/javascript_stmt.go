package script

import (
	"strconv"
	"strings"

	"github.com/tdewolff/parse/v2/js"
)

func (w *jsWalk) stmt(s js.IStmt) *node {
	switch s := s.(type) {
	case *js.BlockStmt:
		return w.block(s.List)
	case *js.EmptyStmt, *js.Comment:
		return w.node("block", nil)
	case *js.ExprStmt:
		return w.node("expr", s, w.expr(s.Value))
	case *js.IfStmt:
		return w.node("if", s, w.expr(s.Cond), w.body(s.Body), w.body(s.Else))
	case *js.DoWhileStmt:
		body := w.body(s.Body)
		return w.named("loop", "while", s, w.expr(s.Cond), body, w.node("block", nil))
	case *js.WhileStmt:
		return w.named("loop", "while", s, w.expr(s.Cond), w.body(s.Body), w.node("block", nil))
	case *js.ForStmt:
		return w.forLoop(s)
	case *js.ForInStmt:
		return w.each(s, "in", s.Init, s.Value, s.Body.List)
	case *js.ForOfStmt:
		return w.each(s, "", s.Init, s.Value, s.Body.List)
	case *js.SwitchStmt:
		return w.switchStmt(s)
	case *js.BranchStmt:
		if s.Type == js.BreakToken {
			return w.node("break", s)
		}
		return w.node("continue", s)
	case *js.ReturnStmt:
		if s.Value == nil {
			return w.node("return", s)
		}
		return w.node("return", s, w.expr(s.Value))
	case *js.LabelledStmt:
		return w.node("label", s, w.stmt(s.Value))
	case *js.ThrowStmt:
		return w.node("raise", s, w.expr(s.Value))
	case *js.TryStmt:
		return w.tryStmt(s)
	case *js.ImportStmt:
		return w.importStmt(s)
	case *js.ExportStmt:
		if s.Decl != nil {
			return w.unknown(s, w.expr(s.Decl))
		}
		return w.unknown(s)
	case *js.DirectivePrologueStmt:
		return w.named("directive", string(s.Value), s)
	case *js.VarDecl:
		return w.varDecl(s)
	case *js.FuncDecl:
		return w.funcDecl("def", s)
	case *js.ClassDecl:
		return w.class(s)
	}
	return w.unknown(s) // with, debugger, and what is not known
}

func (w *jsWalk) forLoop(s *js.ForStmt) *node {
	out := w.node("block", s)
	if s.Init != nil {
		out.Kids = append(out.Kids, w.expr(s.Init))
	}
	cond := w.named("unknown", "loop without a condition", s)
	if s.Cond != nil {
		cond = w.expr(s.Cond)
	}
	body := w.block(s.Body.List)
	loop := w.named("loop", "while", s, cond, body, w.node("block", nil))
	if s.Post != nil {
		loop.Kids[2].Kids = append(loop.Kids[2].Kids, w.expr(s.Post))
	}
	out.Kids = append(out.Kids, loop)
	return out
}

func (w *jsWalk) each(s js.IStmt, of string, init, value js.IExpr, body []js.IStmt) *node {
	head := w.node("block", nil)
	if d, ok := init.(*js.VarDecl); ok && len(d.List) == 1 {
		each := w.named("each", of, value, w.expr(value))
		head.Kids = w.bind(d.List[0].Binding, each, d.List[0].Default)
	} else {
		head = w.unknown(s, w.expr(value))
	}
	return w.named("loop", "for", s, head, w.block(body), w.node("block", nil))
}

func (w *jsWalk) switchStmt(s *js.SwitchStmt) *node {
	kids := []*node{w.expr(s.Init)}
	for _, c := range s.List {
		var tests []*node
		if c.Cond != nil {
			tests = append(tests, w.expr(c.Cond))
		}
		kids = append(kids, w.node("case", nil, append(tests, w.block(c.List))...))
	}
	return w.node("switch", s, kids...)
}

func (w *jsWalk) tryStmt(s *js.TryStmt) *node {
	kids := []*node{w.block(s.Body.List)}
	if s.Catch != nil {
		h := w.node("handler", nil, w.node("types", nil))
		if s.Binding != nil {
			h.Kids = append(h.Kids, w.node("block", nil, w.bind(s.Binding, w.node("caught", nil), nil)...))
		}
		h.Kids = append(h.Kids, w.block(s.Catch.List))
		kids = append(kids, h.coded("catch"))
	}
	if s.Finally != nil {
		kids = append(kids, w.node("finally", nil, w.block(s.Finally.List)).coded("finally"))
	}
	return w.node("try", s, kids...)
}

func (w *jsWalk) importStmt(s *js.ImportStmt) *node {
	module := strings.TrimPrefix(unquote(string(s.Module)), "node:")
	out := w.node("block", s)
	add := func(op, name, as string) {
		n := w.named(op, name, s)
		n.Type = as
		out.Kids = append(out.Kids, n)
	}
	if s.Default != nil {
		add("import", module, string(s.Default))
	}
	for _, a := range s.List {
		switch name := string(a.Name); {
		case name == "*":
			add("import", module, string(a.Binding))
		case name == "" || name == "default":
			add("from", module+"."+string(a.Binding), string(a.Binding))
		default:
			add("from", module+"."+strings.Trim(name, `"'`), string(a.Binding))
		}
	}
	if len(out.Kids) == 0 {
		add("import", module, "import "+module)
	}
	return out
}

// varDecl is a declaration. A function that is given to a constant is one like any
// other.
func (w *jsWalk) varDecl(d *js.VarDecl) *node {
	out := w.node("block", nil)
	for _, b := range d.List {
		if v, ok := b.Binding.(*js.Var); ok && d.TokenType == js.ConstToken && b.Default != nil {
			if fn := w.expr(b.Default); fn.Op == "func" && fn.Name == "" {
				fn.Op, fn.Name = "def", string(v.Data)
				out.Kids = append(out.Kids, fn)
			} else {
				out.Kids = append(out.Kids, w.named("assign", "=", d, fn, w.name(v.Data)))
			}
			continue
		}
		var value *node
		if b.Default != nil {
			value = w.expr(b.Default)
		}
		out.Kids = append(out.Kids, w.bind(b.Binding, value, nil)...)
	}
	return out
}

// bind takes a pattern apart: `const {a: b} = x` is `const b = x.a`. value is nil for a
// declaration without one.
func (w *jsWalk) bind(b js.IBinding, value *node, byDefault js.IExpr) (out []*node) {
	if byDefault != nil && value != nil {
		value = w.named("op", "??", nil, value, w.expr(byDefault))
	}
	assign := func(v, t *node) *node { return w.named("assign", "=", nil, v, t).coded(t.Code + " = " + v.Code) }
	switch b := b.(type) {
	case nil:
	case *js.Var:
		if value == nil {
			value = w.text("null", "undefined", nil)
		}
		out = append(out, assign(value, w.name(b.Data)))
	case *js.BindingArray:
		for i, e := range b.List {
			out = append(out, w.bind(e.Binding, w.node("index", nil, value, w.text("int", strconv.Itoa(i), nil)), e.Default)...)
		}
		out = append(out, w.bind(b.Rest, w.named("op", "rest", nil, value), nil)...)
	case *js.BindingObject:
		for _, item := range b.List {
			v := w.entry(item, value)
			out = append(out, w.bind(item.Value.Binding, v, item.Value.Default)...)
		}
		if b.Rest != nil {
			out = append(out, assign(w.named("op", "rest", nil, value), w.name(b.Rest.Data)))
		}
	default:
		out = append(out, w.named("unknown", "binding", nil))
	}
	return out
}

func (w *jsWalk) entry(item js.BindingObjectItem, value *node) *node {
	if item.Key == nil {
		name := ""
		if v, ok := item.Value.Binding.(*js.Var); ok {
			name = string(v.Data)
		}
		return w.named("attr", name, nil, value).coded(value.Code + "." + name)
	}
	key := w.property(item.Key)
	if key.Op == "const" {
		return w.named("attr", key.Name, nil, value).coded(value.Code + "." + key.Name)
	}
	return w.node("index", nil, value, key)
}

func (w *jsWalk) funcDecl(op string, f *js.FuncDecl) *node {
	name := ""
	if f.Name != nil {
		name = string(f.Name.Data)
	}
	out := w.function(op, name, f, f.Params, f.Body.List, kindOf(f.Async, f.Generator))
	if op == "func" && name != "" && out.Type == "" {
		out.Type = "named"
	}
	return out
}

func (w *jsWalk) function(op, name string, of js.INode, ps js.Params, body []js.IStmt, kind string) *node {
	var kids, prelude []*node
	add := func(b js.IBinding, byDefault js.IExpr, typ string) {
		p := w.node("param", nil)
		if byDefault != nil {
			p.Kids = append(p.Kids, w.node("default", nil, w.expr(byDefault)))
		}
		if v, ok := b.(*js.Var); ok {
			p.Name, p.Type = string(v.Data), typ
			p.Code = p.Name
		} else if b != nil { // it gets a name that no script can have
			p.Name = "{" + strconv.Itoa(len(kids)) + "}"
			prelude = append(prelude, w.bind(b, w.named("name", p.Name, nil), nil)...)
		}
		kids = append(kids, p)
	}
	for _, p := range ps.List {
		add(p.Binding, p.Default, "")
	}
	if ps.Rest != nil {
		add(ps.Rest, nil, "*")
	}
	block := w.node("block", nil, append(prelude, w.stmts(body)...)...)
	out := w.named(op, name, of, append(kids, block)...)
	out.Type = kind
	return out
}

func (w *jsWalk) method(m *js.MethodDecl) *node {
	kind := kindOf(m.Async, m.Generator)
	if m.Get {
		kind = "getter"
	}
	if m.Set {
		kind = "setter"
	}
	return w.function("func", "", m, m.Params, m.Body.List, kind)
}

func (w *jsWalk) class(c *js.ClassDecl) *node {
	out := w.node("class", c)
	if c.Name != nil {
		out.Name = string(c.Name.Data)
	}
	if c.Extends != nil {
		out.Kids = append(out.Kids, w.expr(c.Extends))
	}
	body := w.node("block", nil)
	for _, e := range c.List {
		name := &e.Name
		switch {
		case e.StaticBlock != nil:
			body.Kids = append(body.Kids, w.block(e.StaticBlock.List))
			continue
		case e.Method != nil:
			name = &e.Method.Name
			body.Kids = append(body.Kids, w.method(e.Method))
		case e.Init != nil:
			body.Kids = append(body.Kids, w.node("expr", nil, w.expr(e.Init)))
		}
		if name.Computed != nil {
			body.Kids = append(body.Kids, w.node("expr", nil, w.expr(name.Computed)))
		}
		body.Kids = append(body.Kids, w.text("str", name.String(), nil))
	}
	out.Kids = append(out.Kids, body)
	return out
}
