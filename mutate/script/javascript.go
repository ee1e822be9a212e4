package script

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"

	"github.com/skill-evolve/evolve/mutate/script/acts"
)

func readJavaScript(ctx context.Context, texts [][]byte) ([]*acts.Reading, error) {
	var out []*acts.Reading
	for _, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tree, bad := parseJavaScript(text)
		if bad != nil {
			out = append(out, &acts.Reading{Syntax: bad})
			continue
		}
		out = append(out, analyse(tree, javaScriptDialect()))
	}
	return out, nil
}

// parseJavaScript reads a module, or else a CommonJS script, which may return at its top.
func parseJavaScript(text []byte) (*node, *Finding) {
	for i, line := range bytes.Split(text, []byte("\n")) {
		// Node reads these as comments in a script, and as operators in a module.
		if bytes.Contains(line, []byte("<!--")) || bytes.HasPrefix(bytes.TrimSpace(line), []byte("-->")) {
			return nil, acts.SyntaxError(i+1, "a comment of HTML")
		}
	}
	tree, err := js.Parse(parse.NewInputBytes(bytes.Clone(text)), js.Options{})
	if err != nil {
		if bytes.HasPrefix(text, []byte("#!")) {
			text = append([]byte("//"), text[2:]...)
		}
		var again error
		if tree, again = js.Parse(parse.NewInputBytes(bytes.Clone(text)), js.Options{Inline: true}); again != nil {
			line := 0
			if e := (*parse.Error)(nil); errors.As(err, &e) {
				line = e.Line
				err = errors.New(e.Message)
			}
			return nil, acts.SyntaxError(line, err.Error())
		}
	}
	w := &jsWalk{src: text}
	return w.node("block", nil, w.stmts(tree.List)...), nil
}

// A jsWalk turns the parser's tree into ours. The parser's nodes have no positions: the
// walk follows the source by looking for each name and literal behind the last one.
type jsWalk struct {
	src []byte
	pos int
}

func (w *jsWalk) at(data []byte) {
	if i := bytes.Index(w.src[w.pos:], data); i >= 0 && len(data) > 0 {
		w.pos += i
	}
}

// node makes a node; its code is printed from the parser's node.
func (w *jsWalk) node(op string, of js.INode, kids ...*node) *node {
	n := &node{Op: op, Kids: kids, Line: 1 + bytes.Count(w.src[:w.pos], []byte("\n"))}
	if of != nil {
		var b strings.Builder
		of.JS(&b)
		n.Code = b.String()
	}
	for _, k := range kids {
		if k.Line < n.Line && k.Line > 0 {
			n.Line = k.Line
		}
	}
	return n
}

func (w *jsWalk) named(op, name string, of js.INode, kids ...*node) *node {
	n := w.node(op, of, kids...)
	n.Name = name
	return n
}

func (w *jsWalk) name(data []byte) *node {
	w.at(data)
	return w.named("name", string(data), nil).coded(string(data))
}

func (n *node) coded(code string) *node { n.Code = code; return n }

func (w *jsWalk) text(typ, value string, data []byte) *node {
	w.at(data)
	n := w.named("const", value, nil).coded(string(data))
	n.Type = typ
	return n
}

func (w *jsWalk) unknown(of js.INode, kids ...*node) *node {
	return w.named("unknown", strings.TrimPrefix(fmt.Sprintf("%T", of), "*js."), of, kids...)
}

func (w *jsWalk) block(list []js.IStmt) *node { return w.node("block", nil, w.stmts(list)...) }

func (w *jsWalk) stmts(list []js.IStmt) (out []*node) {
	for _, s := range list {
		out = append(out, w.stmt(s))
	}
	return out
}

// body is a statement as a block; nil is an empty one.
func (w *jsWalk) body(s js.IStmt) *node {
	if s == nil {
		return w.node("block", nil)
	}
	return w.node("block", nil, w.stmt(s))
}

func (w *jsWalk) expr(e js.IExpr) *node {
	switch e := e.(type) {
	case *js.Var:
		return w.name(e.Data)
	case *js.LiteralExpr:
		return w.literal(e)
	case *js.GroupExpr:
		return w.expr(e.X)
	case *js.DotExpr:
		return w.dot(e)
	case *js.IndexExpr:
		x, y := w.expr(e.X), w.expr(e.Y)
		if y.Op == "const" && y.Type == "str" {
			return w.named("attr", y.Name, e, x)
		}
		return w.node("index", e, x, y)
	case *js.CallExpr:
		return w.node("call", e, append([]*node{w.expr(e.X)}, w.args(e.Args.List)...)...)
	case *js.NewExpr:
		kids := []*node{w.expr(e.X)}
		if e.Args != nil {
			kids = append(kids, w.args(e.Args.List)...)
		}
		return w.node("new", e, kids...)
	case *js.UnaryExpr:
		return w.unary(e)
	case *js.BinaryExpr:
		return w.binary(e)
	case *js.CondExpr:
		return w.node("cond", e, w.expr(e.Cond), w.expr(e.X), w.expr(e.Y))
	case *js.CommaExpr:
		var kids []*node
		for _, x := range e.List {
			kids = append(kids, w.expr(x))
		}
		return w.named("op", "comma", e, kids...)
	case *js.ArrayExpr:
		return w.array(e)
	case *js.ObjectExpr:
		return w.object(e)
	case *js.TemplateExpr:
		return w.template(e)
	case *js.ArrowFunc:
		return w.function("func", "", e, e.Params, e.Body.List, kindOf(e.Async, false))
	case *js.FuncDecl:
		return w.funcDecl("func", e)
	case *js.MethodDecl:
		return w.method(e)
	case *js.ClassDecl:
		return w.class(e)
	case *js.ImportMetaExpr:
		return w.named("name", "import.meta", e)
	case *js.VarDecl:
		return w.varDecl(e)
	}
	return w.unknown(e)
}

func kindOf(async, generator bool) string {
	switch {
	case generator:
		return "generator"
	case async:
		return "async"
	}
	return ""
}

func (w *jsWalk) literal(e *js.LiteralExpr) *node {
	data := string(e.Data)
	switch e.TokenType {
	case js.StringToken:
		return w.text("str", unquote(data), e.Data)
	case js.RegExpToken:
		end := strings.LastIndexByte(data, '/')
		return w.node("regexp", nil, w.text("regexp", data[1:max(end, 1)], e.Data)).coded(data)
	case js.TrueToken, js.FalseToken:
		return w.text("bool", data, e.Data)
	case js.NullToken:
		return w.text("null", data, e.Data)
	case js.DecimalToken, js.IntegerToken, js.BinaryToken, js.OctalToken, js.HexadecimalToken, js.NumericToken:
		if data == "0" { // as in Python, so that both exit alike
			return w.text("int", data, e.Data)
		}
		return w.text("number", data, e.Data)
	}
	return w.name(e.Data) // this, super, import, a private name
}

// unquote is the value of a string literal.
func unquote(lit string) string {
	if len(lit) < 2 {
		return lit
	}
	return unescape(lit[1 : len(lit)-1])
}

func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		digits, skip := "", 0
		switch {
		case s[i] == 'x' && i+2 < len(s):
			digits, skip = s[i+1:i+3], 2
		case s[i] == 'u' && i+1 < len(s) && s[i+1] == '{':
			if end := strings.IndexByte(s[i:], '}'); end > 0 {
				digits, skip = s[i+2:i+end], end
			}
		case s[i] == 'u' && i+4 < len(s):
			digits, skip = s[i+1:i+5], 4
		}
		if r, err := strconv.ParseUint(digits, 16, 32); err == nil && r <= utf8.MaxRune {
			b.WriteRune(rune(r))
			i += skip
			continue
		}
		if c := strings.IndexByte("nrtbfv0", s[i]); c >= 0 {
			b.WriteByte("\n\r\t\b\f\v\x00"[c])
		} else if s[i] != '\n' {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

func (w *jsWalk) dot(e *js.DotExpr) *node {
	x := w.expr(e.X)
	name := e.Y.String()
	w.at([]byte(name))
	return w.named("attr", name, e, x)
}

func (w *jsWalk) args(list []js.Arg) (out []*node) {
	for _, a := range list {
		k := w.expr(a.Value)
		if a.Rest {
			k = w.node("star", nil, k)
		}
		out = append(out, k)
	}
	return out
}

func (w *jsWalk) unary(e *js.UnaryExpr) *node {
	x := w.expr(e.X)
	switch e.Op {
	case js.PreIncrToken, js.PreDecrToken, js.PostIncrToken, js.PostDecrToken:
		return w.named("assign", e.Op.String(), e, w.text("number", "1", nil), x)
	case js.DeleteToken:
		return w.unknown(e, x)
	}
	return w.named("op", e.Op.String(), e, x)
}

func (w *jsWalk) binary(e *js.BinaryExpr) *node {
	if e.Op == js.EqToken {
		if isPattern(e.X) {
			v := w.expr(e.Y)
			return w.named("op", "comma", e, w.pattern(e.X, v)...)
		}
		x, y := w.expr(e.X), w.expr(e.Y)
		return w.named("assign", "=", e, y, x)
	}
	x, y := w.expr(e.X), w.expr(e.Y)
	switch e.Op {
	case js.MulEqToken, js.DivEqToken, js.ModEqToken, js.ExpEqToken, js.AddEqToken, js.SubEqToken, js.LtLtEqToken, js.GtGtEqToken,
		js.GtGtGtEqToken, js.BitAndEqToken, js.BitXorEqToken, js.BitOrEqToken, js.AndEqToken, js.OrEqToken, js.NullishEqToken:
		return w.named("assign", e.Op.String(), e, y, x)
	}
	return w.named("op", e.Op.String(), e, x, y)
}

func isPattern(e js.IExpr) bool {
	switch e := e.(type) {
	case *js.ArrayExpr, *js.ObjectExpr:
		return true
	case *js.GroupExpr:
		return isPattern(e.X)
	}
	return false
}

// pattern is a destructuring assignment without a declaration, which is rare: it is not
// taken apart.
func (w *jsWalk) pattern(e js.IExpr, v *node) []*node { return []*node{w.unknown(e, v)} }

func (w *jsWalk) array(e *js.ArrayExpr) *node {
	var kids []*node
	for _, x := range e.List {
		switch {
		case x.Value == nil:
			kids = append(kids, w.text("null", "", nil))
		case x.Spread:
			kids = append(kids, w.node("star", nil, w.expr(x.Value)))
		default:
			kids = append(kids, w.expr(x.Value))
		}
	}
	return w.node("list", e, kids...)
}

func (w *jsWalk) object(e *js.ObjectExpr) *node {
	var kids []*node
	for _, p := range e.List {
		var key *node
		m, isMethod := p.Value.(*js.MethodDecl)
		switch {
		case p.Spread:
			kids = append(kids, w.node("star", nil, w.expr(p.Value)))
			continue
		case isMethod:
			key = w.property(&m.Name.PropertyName)
		case p.Name != nil:
			key = w.property(p.Name)
		default:
			key = w.text("str", p.Value.String(), nil)
		}
		kids = append(kids, w.node("pair", p.Value, key, w.expr(p.Value)))
	}
	return w.node("dict", e, kids...)
}

// property is a name in an object: a string, or what is computed.
func (w *jsWalk) property(p *js.PropertyName) *node {
	if p.Computed != nil {
		return w.expr(p.Computed)
	}
	if p.Literal.TokenType == js.StringToken {
		return w.text("str", unquote(string(p.Literal.Data)), p.Literal.Data)
	}
	return w.text("str", string(p.Literal.Data), p.Literal.Data)
}

func (w *jsWalk) template(e *js.TemplateExpr) *node {
	var kids []*node
	for _, p := range e.List {
		v := strings.TrimSuffix(strings.TrimLeft(string(p.Value), "`}"), "${")
		kids = append(kids, w.text("template", unescape(v), p.Value), w.expr(p.Expr))
	}
	tail := unescape(strings.Trim(string(e.Tail), "`}"))
	if len(kids) == 0 && e.Tag == nil {
		return w.text("str", tail, e.Tail)
	}
	out := w.node("fstr", e, append(kids, w.text("template", tail, e.Tail))...)
	if e.Tag != nil {
		return w.node("call", e, w.expr(e.Tag), out)
	}
	return out
}
