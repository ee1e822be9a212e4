package shell

import (
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skill-evolve/evolve/mutate/script/acts"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// call walks a simple command.
func (w *walk) call(c *syntax.CallExpr, p place) {
	for _, a := range c.Assigns {
		w.assign(a, c, p)
	}
	if len(c.Args) == 0 {
		return
	}
	name, ok := literal(c.Args[0])
	for i, a := range c.Args {
		if i > 0 || !ok { // the name of a command is no word of an answer
			w.word(a, p)
		}
	}
	if !ok {
		w.computed(c, p, "The name of a command is computed, so that nobody can tell what runs.")
		return
	}
	if name == acts.Probe || strings.TrimSuffix(name, ";") == acts.Probe {
		w.out.Probes = append(w.out.Probes, p.path)
		return
	}
	if w.fns[name] != nil {
		w.callFunction(name, c, p)
		return
	}
	w.out.Uses[name] = true
	args := c.Args[1:]
	switch name {
	case "exit":
		w.exit(c, p)
	case "eval", "exec", "source", ".", "alias", "enable":
		w.computed(c, p, "It runs something that "+name+" is given.")
	case "read":
		w.readCall(c, p)
	case "return":
		if len(args) > 0 {
			if lit, ok := literal(args[0]); !ok || lit != "0" && lit != "1" {
				w.note("exit", "return "+w.form(args[0], p.fn), c, "It returns a code that its parent does not return.")
			}
		}
	default:
		w.program(name, c, p)
	}
}

func (w *walk) program(name string, c *syntax.CallExpr, p place) {
	args := c.Args[1:]
	if check := pureCommands[name]; check != nil && check(w, args, p) {
		if readsInput()[name] && !p.given {
			w.input(c)
		}
		for _, a := range args {
			w.glob(a)
		}
		return
	}
	key := name + w.args(args, p.fn)
	if name == "jq" && jqArgs(args) {
		key = "jq with a path"
	}
	if p.given || !readsInput()[name] {
		if key != "jq with a path" && p.stdin != "" {
			key += " <<< " + p.stdin
		}
		w.note("call", key, c, "It runs "+name+" in a way in which its parent does not.")
	} else {
		w.note("call", key+" <stdin", c, "It runs "+name+" in a way in which its parent does not.")
	}
	if p.live {
		w.out.Keeps["call "+name] = 1
		if name == "set" || name == "trap" || name == "shopt" {
			w.out.Keeps[printed(c)] = 1
		}
	}
}

func (w *walk) args(args []*syntax.Word, fn string) string {
	var b strings.Builder
	for _, a := range args {
		b.WriteString(" " + w.form(a, fn))
	}
	return b.String()
}

func (w *walk) callFunction(name string, c *syntax.CallExpr, p place) {
	if p.stdin != "" {
		for _, e := range w.effects(&syntax.Stmt{Cmd: w.fns[name].Body.Cmd}) {
			w.note("call", e+" in "+name+" <<< "+p.stdin, c, "A program in the function "+name+" reads something that its parent does not give it.")
		}
	}
	exits := w.exitsWithin(name)
	if exits && !p.sub {
		if p.live {
			w.guards = append(w.guards, [2]string{name, p.fn})
		}
		return
	}
	if exits {
		w.note("exit", name+" in a subshell", c, "The function exits, and in a subshell that does not end the script.")
	}
}

// countGuards counts the ways to each call of a function that exits: two calls of a helper
// that calls once are as many as two calls.
func (w *walk) countGuards() {
	ways := map[string]int{"": 1}
	var to func(fn string) int
	to = func(fn string) int {
		if n, ok := ways[fn]; ok {
			return n
		}
		ways[fn] = 0 // while they are counted
		n := 0
		for _, g := range w.guards {
			if g[0] == fn {
				n = min(n+to(g[1]), 1000)
			}
		}
		ways[fn] = n
		return n
	}
	for _, g := range w.guards {
		w.out.Keeps["a call of "+g[0]] += to(g[1])
	}
}

// exitsWithin reports whether a function exits, or one that it calls.
func (w *walk) exitsWithin(name string) bool {
	if known, ok := w.blockers[name]; ok {
		return known
	}
	w.blockers[name] = false // while it is being found out
	syntax.Walk(w.fns[name].Body, func(n syntax.Node) bool {
		if k, ok := n.(*syntax.CallExpr); ok && len(k.Args) > 0 {
			lit, _ := literal(k.Args[0])
			if lit == "exit" || w.fns[lit] != nil && w.exitsWithin(lit) {
				w.blockers[name] = true
			}
		}
		return true
	})
	return w.blockers[name]
}

func (w *walk) exit(c *syntax.CallExpr, p place) {
	form := "of the last command"
	if len(c.Args) > 1 {
		form = w.form(c.Args[1], p.fn)
	}
	if len(c.Args) > 2 {
		form += " and more"
	}
	if p.sub {
		form += " in a subshell"
	}
	if form == "'0'" {
		return
	}
	w.note("exit", form, c, "It exits with a code with which its parent does not exit.")
	if p.live && !p.sub {
		w.out.Keeps["exit "+form]++
	}
}

func (w *walk) readCall(c *syntax.CallExpr, p place) {
	for _, a := range c.Args[1:] {
		lit, ok := literal(a)
		switch {
		case ok && lit == "-r":
		case ok && syntax.ValidName(lit):
			w.variableName(lit, c, "what is read")
		default:
			w.note("call", "read"+w.args(c.Args[1:], p.fn), c, "It reads in a way in which its parent does not.")
		}
	}
	if !p.given {
		w.input(c)
	}
}

// pureCommands only compute: each is given its arguments, and reports whether they are
// harmless.
var pureCommands = map[string]func(w *walk, args []*syntax.Word, p place) bool{
	"echo": anyArgs, "true": anyArgs, "false": anyArgs, ":": anyArgs, "basename": anyArgs, "dirname": anyArgs,
	"break": anyArgs, "continue": anyArgs,
	"printf": func(w *walk, args []*syntax.Word, _ place) bool {
		return len(args) > 0 && !strings.HasPrefix(start(args[0]), "-") && start(args[0]) != ""
	},
	"[": testArgs, "test": testArgs,
	"cat":  func(_ *walk, args []*syntax.Word, _ place) bool { return len(args) == 0 },
	"grep": grepArgs, "egrep": grepArgs, "fgrep": grepArgs,
	"tr":   operands(2, `-[cCdst]+`),
	"cut":  operands(0, `-[dfc].*|[0-9,-]+|.`),
	"head": operands(0, lineCount), "tail": operands(0, lineCount),
	"wc":   operands(0, `-[lwcm]+`),
	"sort": operands(0, `-[urn]+`), "uniq": operands(0, `-[cdu]+`),
	"sed": func(_ *walk, args []*syntax.Word, _ place) bool { return sedArgs(args) },
}

// lineCount is how much of a text is kept; nothing is not.
const lineCount = `-[nc]?[1-9][0-9]*|-[nc]|[1-9][0-9]*`

var readsInput = sync.OnceValue(func() map[string]bool {
	return acts.Set("cat grep egrep fgrep tr cut head tail wc sort uniq sed jq awk python3 python node perl")
})

func anyArgs(*walk, []*syntax.Word, place) bool { return true }

// start is the text that a word begins with.
func start(word *syntax.Word) string {
	if lit, ok := literal(word); ok {
		return lit
	}
	switch part := word.Parts[0].(type) {
	case *syntax.Lit:
		return part.Value
	case *syntax.DblQuoted:
		if len(part.Parts) > 0 {
			if lit, ok := part.Parts[0].(*syntax.Lit); ok {
				return lit.Value
			}
		}
	case *syntax.SglQuoted:
		return part.Value
	}
	return ""
}

// operands allows flags that match a pattern, and at most n other words, which are not
// flags either.
func operands(n int, flags string) func(*walk, []*syntax.Word, place) bool {
	allowed := lazyregexp.New("^(" + flags + ")$")
	return func(_ *walk, args []*syntax.Word, _ place) bool {
		rest := 0
		for _, a := range args {
			lit, ok := literal(a)
			if !ok {
				return false
			}
			if !allowed.MatchString(lit) {
				if strings.HasPrefix(lit, "-") {
					return false
				}
				rest++
			}
		}
		return rest <= n
	}
}

var grepFlags = lazyregexp.New(`^-[qEFivwxochnsPa]+$`)

// grepArgs allows a pattern and no file.
func grepArgs(w *walk, args []*syntax.Word, p place) bool {
	patterns, rest := 0, args
	for len(rest) > 0 {
		lit, ok := literal(rest[0])
		switch {
		case ok && lit == "--":
			patterns += len(rest) - 1
			w.every(rest[1:])
			return patterns == 1
		case ok && (lit == "-e" || strings.HasPrefix(lit, "-") && strings.HasSuffix(lit, "e") && grepFlags.MatchString(strings.TrimSuffix(lit, "e"))) && len(rest) > 1:
			w.every(rest[1:2])
			if rest = rest[2:]; patterns == 0 {
				patterns = 1
			}
			continue
		case ok && grepFlags.MatchString(lit):
		case ok && strings.HasPrefix(lit, "-"):
			return false
		case !ok && start(rest[0]) == "":
			if patterns++; !quoted(rest[0]) {
				return false // may be several words, and flags
			}
		default:
			patterns++
			w.every(rest[:1])
		}
		rest = rest[1:]
	}
	return patterns == 1
}

func quoted(word *syntax.Word) bool {
	_, ok := word.Parts[0].(*syntax.DblQuoted)
	return ok && len(word.Parts) == 1
}

// every reports a pattern that matches every text.
func (w *walk) every(words []*syntax.Word) {
	for _, a := range words {
		if lit, ok := literal(a); ok && acts.MatchesAll(lit) {
			w.note("matches-everything", lit, a, "This pattern matches every text.")
		}
	}
}

var fileTest = sync.OnceValue(func() map[string]bool {
	return acts.Set("-a -b -c -d -e -f -g -h -k -p -r -s -u -w -x -G -L -N -O -S -t -nt -ot -ef")
})

func testArgs(w *walk, args []*syntax.Word, p place) bool {
	for i, a := range args {
		lit, ok := literal(a)
		if !ok {
			continue
		}
		if fileTest()[lit] || lit == "-v" || lit == "-R" || lit == "-o" && i == 0 {
			return false
		}
	}
	for i := 0; i+2 < len(args); i++ {
		if op, _ := literal(args[i+1]); (op == "=" || op == "==" || op == "!=" || op == "-eq" || op == "-ne") && printed(args[i]) == printed(args[i+2]) {
			w.note("constant-condition", printed(args[i])+op, args[i], "It compares a thing with itself.")
		}
	}
	return true
}

var sedScript = lazyregexp.New(`^s([/|#,])[^\n/|#,]*([/|#,])[^\n/|#,]*([/|#,])[gI0-9]*$`)

func sedArgs(args []*syntax.Word) bool {
	scripts := 0
	for _, a := range args {
		lit, ok := literal(a)
		switch m := sedScript.FindStringSubmatch(lit); {
		case !ok:
			return false
		case lit == "-E" || lit == "-r" || lit == "-n":
		case m != nil && m[1] == m[2] && m[2] == m[3]:
			scripts++
		default:
			return false
		}
	}
	return scripts == 1
}

var jqPath = lazyregexp.New(`^[\w.\[\]"?/| ]+$`)

// jqArgs allows a filter that only picks values, and no file: jq reads the environment,
// too.
func jqArgs(args []*syntax.Word) bool {
	filters := 0
	for _, a := range args {
		lit, ok := literal(a)
		switch {
		case !ok:
			return false
		case lit == "-r" || lit == "-e" || lit == "-er" || lit == "-re" || lit == "-c":
		case jqPath.MatchString(lit) && strings.HasPrefix(lit, ".") && !jqWords.MatchString(lit):
			filters++
		default:
			return false
		}
	}
	return filters == 1
}

var jqWords = lazyregexp.New(`\b(env|input|inputs|import|include|halt|halt_error|debug|stderr|def|error)\b`)

func (w *walk) input(c *syntax.CallExpr) {
	w.out.Add(acts.Fact{Rule: "input", Key: "stdin", Line: int(c.Pos().Line()), Code: printed(c), Counted: true,
		Text: "It reads the hook's input, and then what its parent reads there is gone."})
}
