package replay

import (
	"path"
	"slices"
	"strings"
)

// This file judges programs that run other programs, or that take something
// else than paths.

// wrapped judges the command behind sudo, env, timeout and the like.
func (sh *shell) wrapped(c *simple, args []word, valued []string, base string, in source, piped bool) source {
	for len(args) > 0 {
		w, ok := args[0].plain()
		switch {
		case ok && base == "command" && (w == "-v" || w == "-V"):
			return source{names: true}
		case ok && slices.Contains(valued, w):
			args = args[min(2, len(args)):]
			continue
		case ok && strings.HasPrefix(w, "-"):
			args = args[1:]
			continue
		case ok && base == "timeout" && strings.Trim(w, "0123456789.smhd") == "":
			args = args[1:]
			continue
		case base == "env" && len(args[0]) > 0 && args[0][0].kind == literal && strings.Contains(args[0][0].text, "="):
			for _, v := range sh.expand(args[0]) {
				_, text, _ := strings.Cut(v.text, "=")
				sh.note(sh.path(value{text, -1}, false, false))
			}
			args = args[1:]
			continue
		}
		break
	}
	if len(args) == 0 {
		return source{}
	}
	return sh.simple(&simple{words: args, redirs: c.redirs}, in, piped)
}

// body is the text that a command reads on stdin, where the line shows it.
func (sh *shell) body(c *simple, in source, piped bool) (text string, ok bool) {
	for _, r := range c.redirs {
		switch r.op {
		case "<<", "<<-":
			return r.body, true
		case "<<<":
			if vals := sh.expand(r.word); len(vals) == 1 && !strings.ContainsAny(vals[0].text, unknown+entry) {
				return vals[0].text, true
			}
		}
	}
	return in.text, piped && in.literal
}

// shell judges sh, bash and so on.
func (sh *shell) shell(c *simple, vals []value, in source, piped bool) {
	for i, v := range vals {
		if strings.HasPrefix(v.text, "-") && !strings.HasPrefix(v.text, "--") && strings.HasSuffix(v.text, "c") {
			if i+1 == len(vals) {
				return
			}
			sh.nested(vals[i+1])
			sh.paths(vals[i+2:], false, false)
			return
		}
	}
	if file := first(vals); file.text != "" {
		sh.script(file)
		sh.paths(vals, false, false)
		return
	}
	if text, ok := sh.body(c, in, piped); ok {
		sh.nested(value{text, -1})
		return
	}
	sh.note(unclear("ran commands that the trace does not show"))
}

// nested judges a value as a command line of its own, in a subshell.
func (sh *shell) nested(v value) {
	if strings.Contains(v.text, unknown) {
		sh.note(unclear("ran a command that was computed"))
		return
	}
	cwd := sh.cwd
	sh.run(strings.ReplaceAll(v.text, entry, "x"))
	sh.cwd = cwd
}

func (sh *shell) eval(vals []value) {
	var line []string
	for _, v := range vals {
		line = append(line, v.text)
	}
	if text := strings.Join(line, " "); strings.ContainsAny(text, unknown+entry) {
		sh.note(unclear("ran a command that was computed"))
	} else {
		sh.run(text)
	}
}

// script judges the running of a file: that of an offered skill is the same for
// every candidate, any other may do whatever the trace does not show.
func (sh *shell) script(v value) {
	f := sh.path(v, true, false)
	if f.verdict != clean.verdict {
		sh.note(f)
		return
	}
	if p := sh.absolute(v.text); !within(p, sh.b.skills) && !inSystem(p) {
		sh.note(unclear("ran %s, whose code the trace does not show", readable(v.text)))
	}
}

// interpreterOf is the interpreter's name without its version, "" for what is
// none.
func interpreterOf(base string) string {
	if _, ok := interpreters[base]; ok {
		return base
	}
	if name := strings.TrimRight(base, "0123456789."); name == "python" || name == "ruby" || name == "perl" || name == "php" || name == "lua" {
		return name
	}
	return ""
}

// modules of Python that run no code of the project.
var modules = []string{"json.tool", "py_compile", "compileall", "pip", "venv", "site", "sysconfig", "ensurepip", "calendar", "this", "base64"}

func (sh *shell) interpreter(c *simple, name string, vals []value, in source, piped bool) {
	options := strings.Fields(interpreters[name])
	for i, v := range vals {
		if slices.Contains(options, v.text) && i+1 < len(vals) && v.text != "-i" {
			sh.code(vals[i+1])
			sh.paths(vals[i+2:], false, false)
			return
		}
		if strings.HasPrefix(name, "p") && v.text == "-m" && i+1 < len(vals) {
			if !slices.Contains(modules, vals[i+1].text) {
				sh.note(unclear("ran the module %s, whose code the trace does not show", readable(vals[i+1].text)))
			}
			sh.paths(vals[i+2:], true, false)
			return
		}
		if !strings.HasPrefix(v.text, "-") {
			break
		}
	}
	file := first(vals)
	switch {
	case name == "deno" || name == "bun" || name == "java":
		sh.note(unclear("ran %s, whose code the trace does not show", name))
		sh.paths(vals, false, false)
	case (name == "node" || name == "python3" || name == "python") && len(vals) > 1 && (vals[0].text == "--check" || vals[0].text == "-c"):
		sh.paths(vals, true, false)
	case file.text != "":
		sh.script(file)
		sh.paths(vals, false, false)
	default:
		if text, ok := sh.body(c, in, piped); ok {
			sh.code(value{text, -1})
		} else {
			sh.note(unclear("ran code that the trace does not show"))
		}
	}
}

// patch judges the files of a patch.
func (sh *shell) patch(c *simple, vals []value, in source, piped bool) {
	text, ok := sh.body(c, in, piped)
	if len(vals) > 0 {
		text, ok = vals[0].text, true
	}
	if !ok {
		sh.note(unclear("applied a patch that the trace does not show"))
	}
	for _, a := range patched(Access{}, text) {
		if a.Path != "" {
			sh.note(sh.path(value{sh.tilde(a.Path), -1}, true, false))
		}
	}
}

func (sh *shell) code(v value) {
	if strings.Contains(v.text, unknown) {
		sh.note(unclear("ran code that was computed"))
		return
	}
	sh.note(sh.b.code(v.text, sh.cwd))
}

// xargs gives what it reads as arguments to a command.
func (sh *shell) xargs(args []word, in source) {
	for len(args) > 0 {
		w, ok := args[0].plain()
		if !ok || !strings.HasPrefix(w, "-") {
			break
		}
		n := 1
		if slices.Contains([]string{"-I", "-n", "-P", "-L", "-d", "-s", "-E", "-a"}, w) {
			n = 2
		}
		args = args[min(n, len(args)):]
	}
	if len(args) == 0 {
		return
	}
	var more []word
	switch {
	case in.names:
		more = []word{{{kind: number}}}
	case in.literal:
		for _, f := range strings.Fields(in.text) {
			more = append(more, word{{text: f, quoted: true}})
		}
	default:
		if w, ok := args[0].plain(); !ok || !speakers[w] {
			more = []word{{{kind: variable, text: "unread from a pipe"}}}
		}
	}
	for i, w := range args { // {} of -I
		if text, ok := w.plain(); ok && strings.Contains(text, "{}") && len(more) > 0 {
			args = slices.Clone(args)
			args[i] = more[0]
		}
	}
	sh.simple(&simple{words: slices.Concat(args, more)}, source{}, true)
}

// find judges where find begins and what it runs on what it finds.
func (sh *shell) find(args []word, vals []value) {
	began := false
	for _, v := range vals {
		if strings.HasPrefix(v.text, "-") && !slices.Contains([]string{"-L", "-H", "-P"}, v.text) || v.text == "(" || v.text == "!" {
			break
		}
		if !strings.HasPrefix(v.text, "-") {
			sh.note(sh.path(v, true, true))
			began = true
		}
	}
	if !began {
		sh.note(sh.b.read(sh.cwd, true))
	}
	for i := 0; i < len(args); i++ {
		w, _ := args[i].plain()
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir"}, w) {
			continue
		}
		var inner []word
		for i++; i < len(args); i++ {
			w, _ := args[i].plain()
			if w == ";" || w == "+" {
				break
			}
			if w == "{}" {
				inner = append(inner, word{{kind: number}})
			} else {
				inner = append(inner, args[i])
			}
		}
		if len(inner) > 0 {
			sh.simple(&simple{words: inner}, source{}, false)
		}
	}
}

// grep takes its first argument for a pattern, unless -e gave it one.
func (sh *shell) grep(base string, vals []value) {
	pattern, files := false, 0
	deep := deepReaders[base] || recursive(vals)
	for i := 0; i < len(vals); i++ {
		v := vals[i]
		switch {
		case v.text == "-e" || v.text == "--regexp":
			pattern = true
			i++
		case v.text == "-f" || v.text == "--file":
			pattern = true
		case slices.Contains([]string{"-A", "-B", "-C", "-m", "-g", "-t", "-T", "--glob", "--type", "--include", "--exclude", "--max-count", "-j", "--iglob"}, v.text):
			i++
		case strings.HasPrefix(v.text, "--include=") || strings.HasPrefix(v.text, "--exclude") || strings.HasPrefix(v.text, "--glob="):
		case strings.HasPrefix(v.text, "-"):
			if v.text == "--files" {
				pattern = true
			}
			sh.note(sh.argument(v, deep))
		case !pattern:
			pattern = true
		default:
			files++
			sh.note(sh.path(v, true, deep))
		}
	}
	if files == 0 && deep {
		sh.note(sh.b.read(sh.cwd, true))
	}
}

// program judges sed, awk and jq: the first argument is a program.
func (sh *shell) program(base string, vals []value) {
	given := slices.ContainsFunc(vals, func(v value) bool { return v.text == "-e" || v.text == "-f" || v.text == "--from-file" })
	for i := 0; i < len(vals); i++ {
		v := vals[i]
		switch {
		case v.text == "-e" && i+1 < len(vals):
			i++
			sh.text(base, vals[i])
		case slices.Contains([]string{"-v", "-F", "--arg", "--argjson"}, v.text):
			i++
			if strings.HasPrefix(v.text, "--arg") {
				i++
			}
		case strings.HasPrefix(v.text, "-"):
		case !given:
			given = true
			sh.text(base, v)
		default:
			sh.note(sh.path(v, true, false))
		}
	}
}

// text judges the program text of awk, which can run and read; sed can read
// with r, and run with e.
func (sh *shell) text(base string, v value) {
	switch {
	case strings.HasSuffix(base, "awk") && (strings.Contains(v.text, "system(") || strings.Contains(v.text, "getline") || strings.Contains(v.text, `| "`) || strings.Contains(v.text, "ENVIRON")):
		sh.note(unclear("ran an awk program that reads or runs something").or(sh.b.code(v.text, sh.cwd)))
	case base == "sed":
		for _, marker := range []string{"r ", "R ", "e "} {
			if i := strings.Index(v.text, marker); i >= 0 && (i == 0 || strings.IndexByte("0123456789$/;} \n", v.text[i-1]) >= 0) {
				f, _, _ := strings.Cut(v.text[i+2:], "\n")
				if p := strings.TrimSpace(f); strings.HasPrefix(p, "/") || strings.HasPrefix(p, "..") || marker == "e " {
					sh.note(unclear("ran a sed program that reads or runs %.60q", p))
				}
			}
		}
	}
}

// git judges by subcommand: the local ones read the working folder, which has
// no repository but one that the agent made.
func (sh *shell) git(vals []value) source {
	i := 0
	for ; i < len(vals) && strings.HasPrefix(vals[i].text, "-"); i++ {
		switch vals[i].text {
		case "-C", "--git-dir", "--work-tree":
			if i++; i < len(vals) {
				sh.note(sh.path(vals[i], true, true))
			}
		case "-c":
			i++
		default:
			sh.note(sh.argument(vals[i], true))
		}
	}
	if i == len(vals) {
		return source{}
	}
	rest := vals[i+1:]
	switch vals[i].text {
	case "clone", "fetch", "pull", "push", "ls-remote", "submodule":
		sh.network("git "+vals[i].text, rest)
		sh.paths(rest, true, true)
	case "commit", "tag", "stash", "notes":
		for k := 0; k < len(rest); k++ {
			if slices.Contains([]string{"-m", "--message", "-am"}, rest[k].text) {
				k++
				continue
			}
			if !strings.HasPrefix(rest[k].text, "--message") {
				sh.note(sh.argument(rest[k], false))
			}
		}
	case "grep":
		sh.grep("grep", rest)
	case "config", "log", "checkout", "switch", "branch":
	default:
		sh.paths(rest, true, true)
	}
	return source{names: vals[i].text == "ls-files" || vals[i].text == "diff" || vals[i].text == "status" || vals[i].text == "rev-parse"}
}

// fetches reports whether a package manager, or another program, is given an
// address.
func fetches(base string, vals []value) bool {
	if !slices.Contains([]string{"pip", "pip3", "npm", "pnpm", "yarn", "uv", "pipx", "go", "cargo", "brew", "docker", "apt", "apt-get"}, base) {
		return false
	}
	return slices.ContainsFunc(vals, func(v value) bool { return strings.Contains(v.text, "://") || strings.Contains(v.text, "git+") })
}

func (sh *shell) network(base string, vals []value) {
	for i, v := range vals {
		sh.note(sh.b.fetched(v.text))
		if strings.HasPrefix(v.text, "@") || strings.HasPrefix(v.text, "file:") || i > 0 && slices.Contains([]string{"-o", "-O", "-T", "-K"}, vals[i-1].text) {
			sh.note(sh.argument(v, false))
		}
	}
	sh.note(unclear("went to the network (%s)", base))
}

// fetched judges an address: one that names the skill may be a copy of it.
func (b *bounds) fetched(url string) finding {
	if i := strings.Index(url, "://"); i < 0 || b.skill == "" {
		return clean
	}
	if strings.Contains(url, "SKILL.md") || slices.Contains(strings.FieldsFunc(url, func(r rune) bool { return r == '/' || r == '?' || r == '=' || r == '&' }), b.skill) {
		return tainted("fetched %.120s: may be another copy of the skill", url)
	}
	return clean
}

// quiet are the subcommands that run no code of the project.
var quiet = map[string]string{
	"go":    "version env list vet fmt build mod get install doc",
	"npm":   "install i ci ls list init view outdated audit config pkg root prefix bin",
	"pnpm":  "install i ls list init",
	"yarn":  "install add init list",
	"cargo": "new init add fmt metadata tree search",
	"pip":   "install list show freeze uninstall check download", "pip3": "install list show freeze uninstall check download",
	"uv": "pip venv init add lock", "poetry": "install add show", "conda": "install list",
}

// projectCode reports whether a build tool runs what the project says.
func projectCode(base string, vals []value) bool {
	words, known := quiet[base]
	return known && !slices.Contains(strings.Fields(words), path.Base(first(vals).text))
}
