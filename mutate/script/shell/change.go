package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skill-evolve/evolve/mutate/script/acts"
)

// overwrites reports a constant that always replaces what was computed before.
func (w *walk) overwrites(name string, value *syntax.Word, at syntax.Node, p place) {
	if !p.sure || value != nil && !w.constWord(value) {
		return
	}
	before := false
	for _, v := range w.vars[name] {
		if v.word == value && v.word != nil {
			break
		}
		before = before || v.word == nil || !w.constWord(v.word)
	}
	if before {
		w.out.Add(acts.Fact{Rule: "overwritten", Of: "$" + name, Key: w.form(value, p.fn), Line: int(at.Pos().Line()), Code: printed(at), Counted: true,
			Text: "It replaces what was computed by a constant: " + name + "."})
	}
}

// constantInput reports a program that is given a text of the script where it could be
// given the hook's input.
func (w *walk) constantInput(s *syntax.Stmt, p place) {
	name := commandName(s)
	if name == "cat" || !readsInput()[name] && name != "read" {
		return
	}
	for _, r := range s.Redirs {
		text := r.Word
		if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc {
			text = r.Hdoc
		} else if r.Op != syntax.WordHdoc {
			continue
		}
		if text == nil || w.constWord(text) {
			w.note("constant-input", printed(s), s, "What it reads is always the same.")
		}
	}
}

// endless reports a loop in which nothing that its condition reads changes.
func (w *walk) endless(c *syntax.WhileClause) {
	reads, stops := map[string]bool{}, false
	for _, s := range c.Cond {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.ParamExp:
				if n.Param != nil {
					reads[n.Param.Value] = true
				}
			case *syntax.CallExpr:
				name := ""
				if len(n.Args) > 0 {
					name, _ = literal(n.Args[0])
				}
				stops = stops || name != "[" && name != "test" && name != "true" && name != ":"
			}
			return true
		})
	}
	for _, s := range c.Do {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Assign:
				stops = stops || n.Name != nil && reads[n.Name.Value]
			case *syntax.CallExpr:
				if len(n.Args) > 0 {
					name, _ := literal(n.Args[0])
					stops = stops || name == "break" || name == "exit" || name == "return" || name == "shift" || name == "read"
				}
			}
			return true
		})
	}
	if !stops {
		w.note("endless", printed(c), c, "This loop may never end, and an agent does not wait for its hook.")
	}
}

// sources lists what words are computed of beside the text of the script.
func (w *walk) sources(words []*syntax.Word, fn string) string {
	found, seen := map[string]bool{}, map[string]bool{}
	for _, word := range words {
		w.source(word, fn, found, seen)
	}
	var out []string
	for f := range found {
		out = append(out, f)
	}
	return acts.Union(out)
}

func (w *walk) source(n *syntax.Word, fn string, found, seen map[string]bool) {
	if n == nil {
		found["what is read"] = true
		return
	}
	syntax.Walk(n, func(k syntax.Node) bool {
		switch k := k.(type) {
		case *syntax.ParamExp:
			if k.Param != nil {
				w.sourceOf(k.Param.Value, fn, found, seen)
			}
		case *syntax.CallExpr:
			if len(k.Args) > 0 {
				switch name, ok := literal(k.Args[0]); {
				case name == "jq" || w.fns[name] != nil:
					found[name+w.args(k.Args[1:], fn)] = true
				case !ok || !quiet()[name] || name == "cat":
					found[strings.TrimSpace(name+" in $()")] = true
				}
			}
		}
		return true
	})
}

func (w *walk) sourceOf(name, fn string, found, seen map[string]bool) {
	if i := argument(name); i >= 0 && fn != "" {
		if key := fn + " " + name; !seen[key] {
			seen[key] = true
			for _, c := range w.calls[fn] {
				for _, a := range w.argsAt(i, name, fn, c) {
					w.source(a, c.fn, found, seen)
				}
			}
		}
		return
	}
	if len(w.vars[name]) == 0 {
		found["$"+name] = true
		return
	}
	if seen["$"+name] {
		return
	}
	seen["$"+name] = true
	for _, v := range w.vars[name] {
		w.source(v.word, v.fn, found, seen)
	}
}
