package script

import (
	"slices"
	"strings"
	"unicode"

	"github.com/skill-evolve/evolve/mutate/script/acts"
)

// expr walks an expression.
func (w *walker) expr(n *node, s *scope, p place) {
	switch n.Op {
	case "const":
		w.literal(n, p)
	case "name":
		if b := s.find(n.Name); b == nil || b.module != "" {
			w.out.Uses[n.Name] = true
		}
		if !acts.ASCII(n.Name) {
			w.checkName(n, n.Name)
		}
		w.reads(n, s)
	case "attr":
		w.attr(n, s, p)
	case "index":
		w.index(n, s, p)
	case "call", "new":
		w.call(n, s, p)
	case "func", "def":
		w.function(n, s, p)
	case "class":
		w.class(n, s, p)
	case "assign":
		w.assign(n, s, p)
	case "cond":
		w.condition(n.Kids[0], s, p)
		w.kids(n, s, p)
	case "filter":
		w.condition(n.Kids[0], s, p)
		w.kids(n, s, p)
	case "op":
		w.op(n, s)
		w.kids(n, s, p)
	case "pair":
		w.pair(n, s, p)
	case "unknown":
		w.out.Add(acts.Fact{Rule: "construct", Key: n.Name + " " + n.text(), Line: n.Line, Code: n.Code, Counted: true,
			Text: "It uses a construct that is not known to be harmless: " + n.Name + "."})
		w.kids(n, s, p)
	case "regexp":
		w.stateful(n)
	case "kw", "star", "list", "dict", "fstr", "fmt", "each", "comp", "caught", "types", "default", "block", "expr", "enter":
		w.kids(n, s, p)
	default:
		w.note("construct", n.Op, n, "It uses a construct that is not known: "+n.Op+".")
		w.kids(n, s, p)
	}
}

// reads reports a name of the language or of a module that is used as a value.
func (w *walker) reads(n *node, s *scope) {
	d, ok := w.r.dotted(n, s)
	if !ok || w.isPure(d) || n.Name == acts.Probe {
		return
	}
	if w.d.always[d] || reflective(n.Name) {
		w.computed(n, s)
		return
	}
	w.note("name", d, n, "It uses "+d+", which its parent does not use as a value.")
}

func (w *walker) isPure(d string) bool {
	if w.d.pure[d] {
		return true
	}
	m, ok := strings.CutPrefix(d, "str.")
	return ok && w.d.lang == Python && w.d.methods[m] && m != "format"
}

func (w *walker) attr(n *node, s *scope, p place) {
	if !acts.ASCII(n.Name) {
		w.checkName(n, n.Name)
	}
	if reflective(n.Name) {
		w.computed(n, s)
	} else if _, ok := w.r.dotted(n, s); ok {
		w.root(n, s)
		w.reads(n, s)
		return
	} else if w.d.lang == Python && (!w.d.methods[n.Name] || n.Name == "format") {
		w.note("attribute", n.Name, n, "It reads the attribute "+n.Name+", which its parent does not read.")
	}
	w.expr(n.Kids[0], s, p)
}

// root notes the name that a dotted name begins with.
func (w *walker) root(n *node, s *scope) {
	for n.Op == "attr" {
		if reflective(n.Name) {
			w.computed(n, s)
		}
		n = n.Kids[0]
	}
	if n.Op == "name" {
		w.out.Uses[n.Name] = true
		if !acts.ASCII(n.Name) {
			w.checkName(n, n.Name)
		}
	} else if n.Op == "call" {
		w.expr(n, s, place{})
	}
}

func (w *walker) index(n *node, s *scope, p place) {
	if d, ok := w.r.dotted(n.Kids[0], s); ok {
		w.root(n.Kids[0], s)
		w.note("name", d+"["+w.r.form(n.Kids[1], s)+"]", n, "It reads an entry of "+d+" that its parent does not read.")
	} else {
		w.expr(n.Kids[0], s, p)
	}
	for _, k := range n.Kids[1:] {
		w.expr(k, s, p)
	}
}

// computed reports what can do anything: each one that the parent does not have just so.
func (w *walker) computed(n *node, s *scope) {
	w.out.Add(acts.Fact{Rule: "computed", Key: n.text() + w.r.form(n, s), Line: n.Line, Code: n.Code, Counted: true,
		Text: "It computes what it runs or reaches, so that nobody can tell what it does."})
}

var (
	outputs = acts.Set("print console.log process.stdout.write sys.stdout.write console.info console.debug")
	// texts are methods whose arguments are only kept or shown.
	texts = acts.Set("write writelines info warning error debug critical exception")
)

func (w *walker) call(n *node, s *scope, p place) {
	callee := n.Kids[0]
	args := n.Kids[1:]
	defer func() {
		for _, a := range args {
			if a.Op != "regexp" || callee.Op != "attr" || !global[callee.Name] {
				w.expr(a, s, p)
			}
		}
	}()
	if fn := w.r.local(callee, s); fn != nil {
		w.blocking(fn, "in an expression", s, p)
		if callee.Op == "func" {
			w.function(callee, s, p)
		}
		return
	}
	if module, ok := w.d.required(n, s); ok {
		w.note("import", "import "+module, n, "It loads the module "+module+", which its parent does not.")
		args = nil
		return
	}
	if d, ok := w.r.dotted(callee, s); ok {
		w.root(callee, s)
		w.callDotted(n, d, s, p)
		return
	}
	switch {
	case callee.Op == "attr":
		w.method(n, s, p)
	case callee.Op == "name" && s.find(callee.Name) != nil:
		w.note("computed", "call of "+w.r.form(callee, s), n, "It calls a value, so that nobody can tell what runs.")
	default:
		w.computed(n, s)
		w.expr(callee, s, p)
	}
}

func (w *walker) callDotted(n *node, d string, s *scope, p place) {
	form := w.r.args(n, s)
	switch {
	case w.d.always[d], w.d.require != "" && d == w.d.require:
		w.computed(n, s)
	case w.d.exits[d]:
		w.note("exit", "inside an expression "+d+form, n, "It exits inside an expression.")
	case outputs[d]:
		w.output(n, d, s)
	case w.isPure(d):
		if w.readsInput(n, d, s) {
			w.out.Add(acts.Fact{Rule: "input", Key: d, Line: n.Line, Code: n.Code, Counted: true,
				Text: "It reads the hook's input, and then what its parent reads there is gone."})
		}
		w.pattern(n, d, s)
	default:
		form = w.written(n, d, form, s)
		w.note("call", d+form, n, "It calls "+d+" in a way in which its parent does not.")
		if p.live {
			w.out.Keeps["call "+d] = 1
		}
	}
}

// contents are calls that write, and which argument is what they write: a text, of which
// the parts are judged where they come from.
var contents = map[string]int{"json.dump": 0, "fs.appendFileSync": 1, "fs.writeFileSync": 1}

// loose are calls of which the arguments do not matter, if the parent has any.
var loose = acts.Set("os.path.realpath os.path.abspath os.path.expanduser")

func (w *walker) written(n *node, d, form string, s *scope) string {
	at, ok := contents[d]
	if loose[d] {
		return ""
	}
	if !ok || at+1 >= len(n.Kids) || n.Kids[at+1].Op == "star" {
		return form
	}
	rest := *n
	rest.Kids = slices.Delete(slices.Clone(n.Kids), at+1, at+2)
	return w.r.args(&rest, s) + " of " + w.sources(n.Kids[at+1], s)
}

func (w *walker) readsInput(n *node, d string, s *scope) bool {
	if strings.HasPrefix(d, "sys.stdin") {
		return true
	}
	if len(n.Kids) < 2 {
		return false
	}
	from, ok := w.r.dotted(n.Kids[1], s)
	return ok && strings.HasPrefix(from, "sys.stdin")
}

// output is a call that prints: where to has to be known.
func (w *walker) output(n *node, d string, s *scope) {
	to := "stdout"
	for _, a := range n.Kids[1:] {
		if a.Op == "star" && d != "print" || a.Op == "kw" && a.Name == "**" {
			to = "unknown " + w.r.form(a, s)
		}
		if a.Op == "kw" && a.Name == "file" {
			to, _ = w.r.dotted(a.Kids[0], s)
			if to == "" {
				to = w.r.form(a.Kids[0], s)
			}
		}
	}
	if to = strings.TrimPrefix(to, "sys."); to != "stderr" {
		w.note("output", to, n, "It prints to "+to+", and its parent does not.")
	}
}

// whole are uses of a pattern that are no question.
var whole = acts.Set("re.sub re.escape re.split re.findall re.finditer")

// pattern reports a regular expression that matches every text.
func (w *walker) pattern(n *node, d string, s *scope) {
	if (strings.HasPrefix(d, "re.") || d == "RegExp") && !whole[d] && !w.asValue[n] && len(n.Kids) > 1 {
		if a := n.Kids[1]; a.Op == "const" && acts.MatchesAll(a.Name) {
			w.note("matches-everything", a.Name, n, "This pattern matches every text.")
		}
	}
}

func (w *walker) method(n *node, s *scope, p place) {
	callee := n.Kids[0]
	name, recv := callee.Name, callee.Kids[0]
	from := w.r.form(recv, s)
	switch {
	case reflective(name):
		w.computed(n, s)
	case name == "format" && !plainFormat(recv), name == "toString" && len(n.Kids) > 2:
		w.note("method", name+" of "+from, n, "It fills in a text that is computed.")
	case changes[name] && (!w.own(recv, s, 0) || shrinks[name] && w.atTop(recv, s)):
		w.note("write", name+" "+from+w.r.args(n, s), n, "It changes a value that is not its own, such as the event.")
	case w.d.methods[name] && !(acting[name] && w.handle(recv, s)) && !(name == "replace" && w.d.lang == Python && isPath(from)):
		w.always(n, s)
	default:
		args := w.r.args(n, s)
		if texts[name] {
			args = " of " + w.sourcesOf(n.Kids[1:], s)
		}
		w.note("method", from+"."+name+args, n, "It calls the method "+name+" on something on which its parent does not, or with other arguments.")
		if p.live {
			w.out.Keeps["method "+name] = 1
		}
	}
	w.asValue[recv] = true // re.match(…).end() asks nothing
	w.expr(recv, s, p)
}

// always reports a comparison with "", which holds for every text.
func (w *walker) always(n *node, s *scope) {
	if name := n.Kids[0].Name; slices.Contains([]string{"startswith", "endswith", "startsWith", "endsWith", "includes"}, name) && len(n.Kids) > 1 {
		if w.constant(n.Kids[1], s, 0) && strings.Contains(w.r.form(n.Kids[1], s), `str""`) {
			w.note("matches-everything", name, n, "Every text begins with, ends with and contains an empty one.")
		}
	}
}

// acting are methods of plain values that others have, too: a database's exec, a
// session's get.
var acting = acts.Set("exec get set add find has keys values entries push join update append extend pop copy match search index sort test query")

// handle reports whether a value comes straight from a call that is not pure, and so may
// be anything.
func (w *walker) handle(n *node, s *scope) bool {
	for range 20 {
		switch n.Op {
		case "name":
			b := s.find(n.Name)
			if b == nil || len(b.values) != 1 || b.values[0].n == nil || b.values[0].part != "" {
				return false
			}
			n, s = b.values[0].n, b.values[0].in
		case "op":
			if n.Name != "await" {
				return false
			}
			n = n.Kids[0]
		case "call", "new":
			d, ok := w.r.dotted(n.Kids[0], s)
			return ok && !w.isPure(d) && !parses[d]
		default:
			return false
		}
	}
	return true
}

// isPath reports whether a value may be a path: replace renames a file there.
func isPath(form string) bool {
	return strings.Contains(form, "Path") || strings.Contains(form, "pathlib")
}

// plainFormat reports whether a format string only names its arguments: "{0.__class__}"
// reads attributes.
func plainFormat(n *node) bool {
	if n.Op != "const" {
		return false
	}
	for part := range strings.SplitSeq(n.Name, "{") {
		if field, _, ok := strings.Cut(part, "}"); ok && strings.ContainsAny(field, ".[") && !strings.Contains(field, ":") {
			return false
		}
	}
	return true
}

func (w *walker) pair(n *node, s *scope, p place) {
	if n.Kids[0].Op == "const" {
		if key := n.Kids[0].Name; w.d.lang == JavaScript && (reflective(key) || key == "toString" || key == "then" || key == "toJSON") {
			w.computed(n, s)
		}
		w.decides(n.Kids[0].Name, n.Kids[1], n, s)
	}
	w.kids(n, s, p)
}

// decides reports a new value under a key that decides: {"decision": …}.
func (w *walker) decides(key string, value, n *node, s *scope) {
	if value.Op == "dict" { // its own entries are judged
		return
	}
	if acts.Grants[key] && key != "additionalContext" && key != "stopReason" && key != "systemMessage" {
		w.note("decision", key+" = "+w.r.form(value, s), n, "It answers with another "+key+" than its parent.")
	}
}

// literal looks for the words of a hook's answer.
func (w *walker) literal(n *node, p place) {
	if n.Type != "str" && n.Type != "template" {
		return
	}
	w.out.Answer(n.Name, n.Line, n.Code, p.live, "")
	for _, r := range n.Name {
		if unicode.IsControl(r) && !strings.ContainsRune("\n\r\t\x1b", r) {
			w.note("control", n.Name, n, "A text has a control character: a backslash may be missing before it.")
			return
		}
	}
}

// global are the methods for which a regular expression needs its flag g.
var global = acts.Set("match matchAll replace replaceAll split")

// stateful reports a regular expression that remembers where it was: the next test of it
// begins there.
func (w *walker) stateful(n *node) {
	if acts.MatchesAll(n.Kids[0].Name) {
		w.note("matches-everything", n.Kids[0].Name, n, "This pattern matches every text.")
	}
	if flags := n.Code[strings.LastIndexByte(n.Code, '/')+1:]; strings.ContainsAny(flags, "gy") {
		w.out.Add(acts.Fact{Rule: "stateful", Key: "g", Line: n.Line, Code: n.Code, Counted: true,
			Text: "This pattern remembers where it matched, so that the next test of it may fail."})
	}
}
