package replay

import (
	"path"
	"slices"
	"strings"
)

// A shell audits one command line: it walks through its commands in order and
// follows cd and plain assignments, nothing else. Both branches of a condition
// count, and so does the body of a loop, once.
type shell struct {
	b     *bounds
	cwd   string
	vars  map[string][]value // what the line assigned; several values of a loop
	found finding
	stack []string // folders to return to behind a subshell
	depth int      // of nested command lines
}

// A simple command: assignments, words, redirections.
type simple struct {
	assign [][2]word // name, value
	words  []word
	redirs []token // op and its word; body of a here-document
}

// command judges a command line that runs in cwd.
func (b *bounds) command(line, cwd string) finding {
	sh := &shell{b: b, cwd: cwd, vars: map[string][]value{}, found: clean}
	sh.run(line)
	return sh.found.or(b.named(line))
}

func (sh *shell) note(f finding) { sh.found = sh.found.or(f) }

// maxDepth bounds command lines within command lines.
const maxDepth = 8

func (sh *shell) run(line string) {
	if sh.depth++; sh.depth > maxDepth {
		sh.note(unclear("ran commands nested too deeply to be told"))
		return
	}
	defer func() { sh.depth-- }()
	tokens, broken := lex(line)
	if broken {
		sh.note(unclear("ran a command line that does not end: %.60q", line))
	}
	var pipe []simple
	var cur simple
	endCommand := func() {
		if len(cur.words)+len(cur.assign)+len(cur.redirs) > 0 {
			pipe = append(pipe, cur)
		}
		cur = simple{}
	}
	endPipe := func() {
		endCommand()
		sh.pipeline(pipe)
		pipe = nil
	}
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch t.op {
		case "":
			cur.add(t.word)
		case "|", "|&":
			endCommand()
		case "(":
			endPipe()
			sh.stack = append(sh.stack, sh.cwd)
		case ")":
			endPipe()
			if n := len(sh.stack); n > 0 {
				sh.cwd, sh.stack = sh.stack[n-1], sh.stack[:n-1]
			}
		case "\n", ";", "&", "&&", "||", ";;":
			// A here-document stands in its own line: it belongs to the
			// command before the line break, which has its body by now.
			endPipe()
		default: // a redirection
			if i+1 < len(tokens) && tokens[i+1].op == "" {
				i++
				cur.redirs = append(cur.redirs, token{op: t.op, word: tokens[i].word, body: tokens[i].body})
			}
		}
	}
	endPipe()
}

// add puts a word where it belongs: a leading NAME=… is an assignment.
func (c *simple) add(w word) {
	if len(c.words) == 0 && len(w) > 0 && w[0].kind == literal && !w[0].quoted {
		if name, rest, ok := strings.Cut(w[0].text, "="); ok && name != "" && identifier(name) == name {
			v := slices.Clone(w)
			v[0].text = rest
			c.assign = append(c.assign, [2]word{{{text: name}}, v})
			return
		}
	}
	c.words = append(c.words, w)
}

// keywords open or close compound commands; what follows is a command again.
var keywords = []string{"if", "then", "else", "elif", "fi", "while", "until", "do", "done", "{", "}", "!", "time", "esac", "coproc"}

// dropKeywords takes the keywords off the front of a command.
func (c *simple) dropKeywords() {
	n := 0
	for ; n < len(c.words); n++ {
		if w, ok := c.words[n].plain(); !ok || !slices.Contains(keywords, w) {
			break
		}
	}
	if n == 0 {
		return
	}
	rest := c.words[n:]
	c.words = nil
	for _, w := range rest { // if X=1 …
		c.add(w)
	}
}

// pipeline judges commands that are joined by pipes.
func (sh *shell) pipeline(pipe []simple) {
	from := source{}
	for i := range pipe {
		c := &pipe[i]
		c.dropKeywords()
		for _, a := range c.assign {
			name, _ := a[0].plain()
			vals := sh.expand(a[1])
			if len(c.words) == 0 || name != "HOME" && name != "PATH" {
				sh.vars[name] = vals
			}
			for _, v := range vals { // PYTHONPATH=/somewhere
				if len(c.words) > 0 {
					sh.note(sh.path(v, false, false))
				}
			}
		}
		for _, r := range c.redirs {
			sh.redirect(r)
		}
		if len(c.words) > 0 {
			from = sh.simple(c, from, i > 0)
		}
	}
}

// redirect judges the file of a redirection, and the commands in a body.
func (sh *shell) redirect(r token) {
	switch r.op {
	case "<<", "<<-":
		if _, quoted := r.word.plain(); quoted && !slices.ContainsFunc(r.word, func(p part) bool { return p.quoted }) {
			sh.substitutions(r.body)
		}
	case "<<<":
		sh.expand(r.word)
	case ">&", "<&":
		if w, ok := r.word.plain(); ok && strings.Trim(w, "0123456789-") == "" {
			return
		}
		fallthrough
	default:
		for _, v := range sh.expand(r.word) {
			sh.note(sh.path(v, true, false))
		}
	}
}

// substitutions runs the commands that an unquoted here-document holds.
func (sh *shell) substitutions(body string) {
	l := &lexer{src: strings.ReplaceAll(body, `"`, " ")}
	for _, p := range l.quoted() {
		if p.kind == command {
			sh.expand(word{p})
		}
	}
}

// A value is what a word may become. Bytes that are not known stand as marks.
type value struct {
	text string
	glob int // where the first glob begins, -1 for none
}

const (
	unknown = "\x00" // anything
	entry   = "\x01" // the name of something below a folder that was judged, or a number
)

// maxValues is how many values of one word are followed.
const maxValues = 16

// expand returns the values that a word may have, and judges the commands in it.
func (sh *shell) expand(w word) []value {
	out := []value{{glob: -1}}
	for i, p := range w {
		var alts []string
		switch p.kind {
		case literal:
			text := p.text
			if i == 0 && !p.quoted {
				text = sh.tilde(text)
			}
			if !p.quoted {
				if at := strings.IndexAny(text, "*?[{"); at >= 0 {
					for k := range out {
						if out[k].glob < 0 {
							out[k].glob = len(out[k].text) + at
						}
					}
				}
			}
			alts = []string{strings.NewReplacer(unknown, "", entry, "").Replace(text)}
		case number:
			alts = []string{entry}
		case variable:
			alts = sh.variable(p.text)
		case command:
			alts = []string{sh.substitute(p.text)}
		case piped:
			sh.substitute(p.text)
			alts = []string{entry}
		}
		var next []value
		for _, v := range out {
			for _, a := range alts {
				if len(next) < maxValues {
					next = append(next, value{v.text + a, v.glob})
				}
			}
		}
		if len(out)*len(alts) > maxValues {
			next = append(next[:0], value{unknown, -1})
		}
		out = next
	}
	return out
}

// tilde makes a path of ~ and ~/…; another user's home stays as it is.
func (sh *shell) tilde(s string) string {
	if s == "~" || strings.HasPrefix(s, "~/") {
		return sh.b.home + s[1:]
	}
	if s == "~+" || strings.HasPrefix(s, "~+/") {
		return sh.cwd + s[2:]
	}
	return s
}

func (sh *shell) variable(name string) []string {
	computed := strings.HasSuffix(name, "?")
	name = strings.TrimSuffix(name, "?")
	var alts []string
	switch vals, set := sh.vars[name]; {
	case set:
		for _, v := range vals {
			alts = append(alts, v.text)
		}
	case name == "PWD":
		alts = []string{sh.cwd}
	case name == "HOME":
		alts = []string{sh.b.home}
	case name == "RANDOM" || name == "LINENO" || name == "SECONDS" || name == "UID":
		alts = []string{entry}
	default:
		if v, ok := sh.b.env[name]; ok {
			alts = []string{v}
		} else {
			alts = []string{unknown}
		}
	}
	if computed { // ${x%.*} is near x, ${x:-y} may be y
		for i, a := range alts {
			if strings.Contains(a, unknown) || path.IsAbs(a) {
				alts[i] = unknown
			} else {
				alts[i] = entry
			}
		}
	}
	return alts
}

// listing are commands that print names of what their arguments, which are
// judged, lead to, or short words of their own.
var listing = []string{"ls", "find", "fd", "pwd", "basename", "dirname", "date", "wc", "seq", "nproc", "mktemp", "uname", "whoami",
	"id", "which", "stat", "du", "tree", "git", "expr", "hostname", "realpath", "arch", "getconf", "node", "python3", "python", "go"}

// filters pass on a part of the names that they are given.
var filters = []string{"sort", "uniq", "head", "tail", "wc", "grep", "egrep", "cut", "tac", "nl", "cat"}

// substitute judges the command of $(…) and returns what its output may be.
func (sh *shell) substitute(line string) string {
	inner := &shell{b: sh.b, cwd: sh.cwd, vars: sh.vars, found: clean, depth: sh.depth}
	inner.run(line)
	sh.note(inner.found)
	switch strings.Join(strings.Fields(line), " ") {
	case "pwd", "pwd -P", "git rev-parse --show-toplevel":
		return sh.cwd
	}
	if inner.found.verdict == clean.verdict && lists(line) {
		return entry
	}
	return unknown
}

// lists reports whether a command line prints names only.
func lists(line string) bool {
	tokens, broken := lex(line)
	if broken {
		return false
	}
	first, begin := true, true
	for _, t := range tokens {
		switch {
		case t.op == "|":
			begin = true
		case t.op == "" && begin:
			w, ok := t.word.plain()
			if !ok || first && !slices.Contains(listing, path.Base(w)) || !first && !slices.Contains(filters, w) {
				return false
			}
			first, begin = false, false
		case t.op != "" && !strings.ContainsAny(t.op, "<>"):
			return false
		}
	}
	return !first
}

// path judges a value as the path of a file. sure says that the word is one;
// otherwise it counts only where it looks like one.
func (sh *shell) path(v value, sure, deep bool) finding {
	p := v.text
	if rest, ok := strings.CutPrefix(p, "file://"); ok {
		p, sure = rest, true
	} else if strings.Contains(p, "://") {
		return clean
	}
	if p == "" || p == "-" || strings.ContainsAny(p, "\n") {
		return clean
	}
	if !sure && !pathLike(p) {
		return clean
	}
	if strings.HasPrefix(p, "~") {
		return tainted("read %s: another user's home", p)
	}
	end := len(p)
	if v.glob >= 0 {
		end = min(end, v.glob)
	}
	mark := strings.IndexAny(p, unknown+entry)
	if mark == 0 {
		if strings.Contains(p, unknown) {
			return unclear("used a path that was computed")
		}
		return clean
	}
	if mark > 0 {
		end = min(end, mark)
	}
	abs := p
	if !path.IsAbs(p) {
		abs = sh.cwd + "/" + p
		end += len(sh.cwd) + 1
	}
	if end == len(abs) {
		return sh.b.read(abs, deep)
	}
	if strings.Contains(abs[end:], "..") {
		return unclear("used a path that was computed: %s", readable(p))
	}
	base := cutLast(abs[:end])
	f := sh.b.read(base, true)
	if f.verdict == unclear("").verdict && slices.Contains(sh.b.shared, path.Clean(base)) && mark < 0 {
		// /tmp/*.csv is not the place of another attempt, /tmp/* may be.
		glob, _, _ := strings.Cut(abs[len(base)+1:], "/")
		if !maybeAttempt(glob) {
			f = clean
		}
	}
	if mark > 0 && strings.Contains(p, unknown) {
		f = f.or(unclear("used a path that was computed: %s", readable(p)))
	}
	return f
}

// maybeAttempt reports whether a glob can match the folder of an attempt.
func maybeAttempt(glob string) bool {
	if strings.ContainsAny(glob, "{[") {
		return true
	}
	for _, name := range []string{"evolve-case-1", "evolve-replay-1"} {
		if ok, err := path.Match(glob, name); ok || err != nil {
			return true
		}
	}
	return false
}

// cutLast cuts the last element off an absolute path.
func cutLast(p string) string {
	i := strings.LastIndexByte(p, '/')
	if i <= 0 {
		return "/"
	}
	return p[:i]
}

// readable shows marks as dots.
func readable(p string) string {
	return strings.NewReplacer(unknown, "…", entry, "…").Replace(p)
}

// pathLike reports whether a word looks like a path that could leave the
// working folder.
func pathLike(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || p == ".." || strings.Contains(p, "/") ||
		strings.HasPrefix(p, unknown)
}
