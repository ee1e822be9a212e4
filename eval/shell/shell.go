// Package shell lists the simple commands in a command line: words, redirections and
// folders, with `cd` followed and `bash -c`, `sh -c` and `eval` unfolded.
package shell

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxLine  = 16 << 10 // bytes: the parser recurses
	maxDepth = 8        // nested command lines
)

// A Command is one simple command, or a group that only redirects: `{ …; } > file`.
type Command struct {
	Assigns   []Word // NAME=value, before the words
	Words     []Word // the program and its arguments
	Redirects []Redirect
	// Dir is the folder in which the command runs: absolute, below ~, or relative to
	// the folder in which the line began; "" is that folder.
	Dir Word
}

// A Redirect is an operator such as < or >>, and the file or delimiter behind it.
type Redirect struct {
	Op   string
	Word Word
}

// A Word is one argument as the program gets it, without quotes and escapes.
type Word struct {
	// Text ends before the first byte that the shell computes: a variable, the output
	// of a command, a glob, a brace expansion. A leading ~ is kept.
	Text  string
	Whole bool // nothing in the word is computed
}

// Name is the program's name without its folder; "" if the shell computes it.
func (c *Command) Name() string {
	if len(c.Words) == 0 || !c.Words[0].Whole {
		return ""
	}
	return path.Base(c.Words[0].Text)
}

// Commands lists the commands of a line in bash's syntax, in the order in which they
// are written, whether or not they would run: both branches of a condition, the body of
// a loop once, the commands in $(…), and after `bash -c` or `eval` those in its
// argument. Nothing is run and no variable is expanded. The error is why the list may
// be incomplete: what cannot be parsed, a nested line that is computed, more than 16
// KiB.
func Commands(line string) ([]Command, error) {
	r := &reader{dir: Word{Whole: true}}
	r.line(line, 1)
	return r.out, r.err
}

type reader struct {
	out []Command
	dir Word
	err error // the first
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) line(line string, depth int) {
	switch {
	case len(line) > maxLine:
		r.fail(fmt.Errorf("read command line: longer than %d bytes", maxLine))
		return
	case depth > maxDepth:
		r.fail(errors.New("read command line: nested too deeply"))
		return
	}
	for stmt, err := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(line)) {
		if err != nil {
			r.fail(fmt.Errorf("read command line: %w", err))
		}
		if stmt != nil {
			r.walk(stmt, depth)
		}
	}
}

// walk reads a node and its children. A subshell's cd does not affect what follows it.
func (r *reader) walk(n syntax.Node, depth int) {
	var stack []syntax.Node
	var dirs []Word
	syntax.Walk(n, func(n syntax.Node) bool {
		if n == nil {
			if last := len(stack) - 1; subshell(stack[last]) {
				r.dir, dirs = dirs[len(dirs)-1], dirs[:len(dirs)-1]
			}
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, n)
		if subshell(n) {
			dirs = append(dirs, r.dir)
		}
		if s, ok := n.(*syntax.Stmt); ok {
			r.stmt(s, depth)
		}
		return true
	})
}

func subshell(n syntax.Node) bool {
	switch n.(type) {
	case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.CoprocClause:
		return true
	}
	return false
}

func (r *reader) stmt(s *syntax.Stmt, depth int) {
	c := Command{Dir: r.dir}
	switch x := s.Cmd.(type) {
	case *syntax.CallExpr:
		c.Assigns = assigns(x.Assigns)
		for _, w := range x.Args {
			c.Words = append(c.Words, word(w))
		}
	case *syntax.DeclClause:
		c.Words = append([]Word{{x.Variant.Value, true}}, assigns(x.Args)...)
	}
	for _, d := range s.Redirs {
		c.Redirects = append(c.Redirects, Redirect{d.Op.String(), word(d.Word)})
	}
	if len(c.Assigns)+len(c.Words)+len(c.Redirects) == 0 {
		return
	}
	r.out = append(r.out, c)
	switch c.Name() {
	case "cd", "pushd":
		r.cd(c.Words[1:])
	case "popd":
		r.dir.Whole = false
	case "eval":
		r.nested(c.Words[1:], depth)
	}
	if script := dashC(c.Words); script != nil {
		dir := r.dir
		r.nested(script, depth)
		r.dir = dir
	}
}

func (r *reader) cd(args []Word) {
	i := slices.IndexFunc(args, func(w Word) bool { return w.Text == "-" || !strings.HasPrefix(w.Text, "-") })
	switch {
	case i < 0:
		r.dir = Word{"~", true}
	case args[i].Text == "-":
		r.dir.Whole = false // the folder before it, which is not tracked
	case path.IsAbs(args[i].Text) || strings.HasPrefix(args[i].Text, "~"):
		r.dir = args[i]
	default:
		r.dir = Word{path.Join(r.dir.Text, args[i].Text), r.dir.Whole && args[i].Whole}
	}
}

// nested reads the words of a nested command line.
func (r *reader) nested(words []Word, depth int) {
	texts := make([]string, len(words))
	for i, w := range words {
		if texts[i] = w.Text; !w.Whole {
			r.fail(errors.New("read command line: a nested one is computed"))
			return
		}
	}
	r.line(strings.Join(texts, " "), depth+1)
}

var shells = []string{"sh", "bash", "zsh", "dash", "ksh", "ash", "fish"}

// dashC is the script of `bash -c script` in words that may begin with `sudo`, `timeout
// 5` and the like.
func dashC(words []Word) []Word {
	for i, w := range words {
		if !w.Whole || !slices.Contains(shells, path.Base(w.Text)) {
			continue
		}
		for k, o := range words[i+1:] {
			if !strings.HasPrefix(o.Text, "-") {
				break
			}
			if rest := words[i+1+k:]; !strings.HasPrefix(o.Text, "--") && strings.HasSuffix(o.Text, "c") && len(rest) > 1 {
				return rest[1:2]
			}
		}
	}
	return nil
}

func assigns(list []*syntax.Assign) (out []Word) {
	for _, a := range list {
		w := Word{Whole: a.Array == nil && a.Index == nil}
		if a.Value != nil {
			w = word(a.Value)
		}
		if a.Name != nil && !a.Naked {
			w.Text = a.Name.Value + "=" + w.Text
		} else if a.Name != nil {
			w.Text = a.Name.Value
		}
		out = append(out, w)
	}
	return out
}

// word is what is known of a word without running anything.
func word(w *syntax.Word) Word {
	if w == nil {
		return Word{}
	}
	var b strings.Builder
	whole := parts(&b, w.Parts, false)
	return Word{b.String(), whole}
}

// parts writes what is known, and reports whether that is complete.
func parts(b *strings.Builder, list []syntax.WordPart, quoted bool) bool {
	for _, p := range list {
		switch p := p.(type) {
		case *syntax.Lit:
			if !unescape(b, p.Value, quoted) {
				return false
			}
		case *syntax.SglQuoted:
			if p.Dollar && strings.Contains(p.Value, `\`) {
				return false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if !parts(b, p.Parts, true) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// unescape writes a literal without its backslashes, up to the first glob or brace.
func unescape(b *strings.Builder, s string, quoted bool) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("\"\\$`\n", s[i+1]) >= 0):
			if i++; s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case !quoted && strings.IndexByte("*?[{", c) >= 0 && s != "[":
			return false
		default:
			b.WriteByte(c)
		}
	}
	return true
}
