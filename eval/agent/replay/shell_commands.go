package replay

import (
	"path"
	"slices"
	"strings"
)

// A source is what comes out of a pipe.
type source struct {
	names   bool   // names of what was judged
	text    string // known text; "" where it is not
	literal bool   // text is all of it
}

func set(names string) map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(names) {
		m[n] = true
	}
	return m
}

var (
	// speakers do not take their arguments for paths.
	speakers = set("echo printf true false : date sleep exit return wait kill which type hash uname whoami id tput seq expr let shift trap read unset local declare typeset readonly set shopt umask jobs basename dirname alias history break continue fg bg test [ [[ ]] logger yes")
	// readers take every argument that is no option for a path.
	readers = set("cat head tail less more nl tac wc sort uniq cut paste ls tree find fd fdfind stat file du cp mv ln rm mkdir rmdir touch tar unzip zip gzip gunzip zcat diff cmp md5sum sha1sum sha256sum shasum cksum strings xxd od hexdump tee install chmod chown column comm join split iconv bat cd pushd realpath readlink rg grep egrep fgrep zgrep ag ack source . open view vi vim nano")
	// deepReaders read all below a folder.
	deepReaders = set("find fd fdfind tree du rg ag ack tar zip")
	// wrappers run the command behind their own options.
	wrappers = map[string]string{ // options that take a value
		"sudo": "-u -g -h -p -C", "env": "-u -C", "nohup": "", "nice": "-n", "ionice": "-c -n", "command": "", "builtin": "", "exec": "-a",
		"stdbuf": "-i -o -e", "setsid": "", "timeout": "-s -k", "xvfb-run": "", "caffeinate": "", "unbuffer": "", "chronic": "", "doas": "-u", "time": "-f -o",
	}
	// networks fetch.
	networks = set("curl wget nc ncat netcat ssh scp sftp ftp telnet gh lynx w3m http https aria2c aws gcloud gsutil rclone socat dig nslookup")
	// runners run code of the project.
	runners = set("make gmake just task rake npx bunx pytest tox nox mvn gradle ctest ninja bazel docker podman docker-compose kubectl jest vitest mocha tsx ts-node watch parallel at crontab systemd-run chroot nsenter unshare script expect tmux screen gdb strace osascript")
	// interpreters and the options behind which code stands.
	interpreters = map[string]string{"python": "-c", "python2": "-c", "python3": "-c", "node": "-e --eval -p --print", "deno": "eval", "bun": "-e", "ruby": "-e", "perl": "-e -E -ne -pe -lne -lpe -i", "php": "-r", "lua": "-e", "Rscript": "-e", "java": "", "pypy3": "-c", "tclsh": "", "osascript": "-e"}
	shells       = set("sh bash zsh dash ksh ash fish")
)

// simple judges one command and returns what it prints into a pipe.
func (sh *shell) simple(c *simple, in source, piped bool) source {
	name, args := sh.name(c)
	switch {
	case name == "":
		return source{}
	case strings.Contains(name, unknown):
		sh.note(unclear("ran a command that was computed"))
		return source{}
	case name == "for" || name == "select":
		sh.loop(args)
		return source{}
	case name == "case":
		for _, w := range args {
			sh.expand(w)
		}
		return source{}
	case name == "function":
		return source{}
	}
	base := path.Base(name)
	if options, ok := wrappers[base]; ok {
		return sh.wrapped(c, args, strings.Fields(options), base, in, piped)
	}
	vals := sh.values(args)
	switch {
	case harmless(vals):
		return source{names: true}
	case speakers[base]:
		return sh.speak(base, vals)
	case shells[base]:
		sh.shell(c, vals, in, piped)
	case interpreterOf(base) != "":
		sh.interpreter(c, interpreterOf(base), vals, in, piped)
	case base == "apply_patch" || base == "applypatch":
		sh.patch(c, vals, in, piped)
	case base == "eval":
		sh.eval(vals)
	case base == "xargs":
		sh.xargs(args, in)
	case base == "cd" || base == "pushd":
		sh.cd(vals)
	case base == "popd":
		sh.cwd = sh.b.workspace
	case base == "source" || base == ".":
		sh.script(first(vals))
	case base == "export":
		sh.export(vals)
	case base == "git":
		return sh.git(vals)
	case networks[base] || fetches(base, vals):
		sh.network(base, vals)
	case base == "locate" || base == "mdfind" || base == "plocate":
		sh.note(unclear("searched the whole machine (%s)", base))
	case base == "find":
		sh.find(args, vals)
	case base == "grep" || base == "egrep" || base == "fgrep" || base == "zgrep" || base == "rg" || base == "ag" || base == "ack":
		sh.grep(base, vals)
	case base == "sed" || base == "awk" || base == "gawk" || base == "mawk" || base == "jq" || base == "yq":
		sh.program(base, vals)
	case runners[base] || projectCode(base, vals):
		sh.note(unclear("ran %s, whose code the trace does not show", base))
		sh.paths(vals, false, false)
	case strings.Contains(name, "/") && !inSystem(sh.absolute(name)):
		sh.script(value{text: name, glob: -1})
		sh.paths(vals, false, false)
	default:
		deep := deepReaders[base] || (base == "ls" || base == "cp" || base == "chmod" || base == "chown") && recursive(vals)
		sh.paths(vals, readers[base], deep)
		return source{names: (slices.Contains(listing, base) || piped && in.names && slices.Contains(filters, base)) && base != "cat"}
	}
	return source{names: slices.Contains(listing, base) && base != "node" && base != "python3" && base != "python"}
}

// name is the command's name, and the words behind it.
func (sh *shell) name(c *simple) (string, []word) {
	vals := sh.expand(c.words[0])
	if len(vals) != 1 {
		return unknown, nil
	}
	return vals[0].text, c.words[1:]
}

func (sh *shell) values(args []word) []value {
	var vals []value
	for _, w := range args {
		vals = append(vals, sh.expand(w)...)
	}
	return vals
}

func first(vals []value) value {
	for _, v := range vals {
		if !strings.HasPrefix(v.text, "-") {
			return v
		}
	}
	return value{glob: -1}
}

func (sh *shell) absolute(p string) string {
	if path.IsAbs(p) {
		return path.Clean(p)
	}
	return path.Join(sh.cwd, p)
}

// harmless reports whether a program is only asked who it is.
func harmless(vals []value) bool {
	return len(vals) == 1 && slices.Contains([]string{"--version", "-v", "-V", "--help", "-h", "version", "help"}, vals[0].text) ||
		len(vals) == 2 && vals[0].text == "version"
}

func recursive(vals []value) bool {
	return slices.ContainsFunc(vals, func(v value) bool {
		return v.text == "--recursive" || v.text == "--archive" || strings.HasPrefix(v.text, "-") && !strings.HasPrefix(v.text, "--") && strings.ContainsAny(v.text, "Rra")
	})
}

// paths judges the arguments of a command as paths.
func (sh *shell) paths(vals []value, sure, deep bool) {
	for _, v := range vals {
		f := sh.argument(v, deep)
		if f.verdict == clean.verdict {
			continue
		}
		if !sure && f.verdict == tainted("").verdict && !someones(v.text) {
			f = unclear("named %s, which may be a path outside of the workspace", readable(v.text))
		}
		sh.note(f)
	}
}

// someones reports whether an absolute path lies where people keep files.
func someones(p string) bool {
	i := strings.IndexAny(p, "/~")
	if i < 0 || strings.Contains(p, "..") {
		return true
	}
	for _, dir := range []string{"~", "/home/", "/root/", "/Users/", "/mnt/", "/media/", "/srv/", "/Volumes/"} {
		if strings.HasPrefix(p[i:]+"/", dir) {
			return true
		}
	}
	return attemptIn(p) != ""
}

// argument judges one argument: a path, an option that holds one, a list of them.
func (sh *shell) argument(v value, deep bool) finding {
	p := v.text
	cut := func(n int) value { return value{p[n:], max(-1, v.glob-n)} }
	switch {
	case strings.HasPrefix(p, "-"):
		if i := strings.IndexByte(p, '='); i >= 0 {
			v = value{sh.tilde(p[i+1:]), max(-1, v.glob-i-1)}
		} else if i := strings.IndexAny(p, "/~"); i >= 0 {
			v = cut(i)
		} else if i := strings.Index(p, ".."); i == 2 {
			v = cut(i)
		} else {
			return clean
		}
	case strings.HasPrefix(p, "@"):
		v = cut(1)
	default:
		if i := strings.IndexByte(p, '='); i > 0 && identifier(p[:i]) == p[:i] {
			v = value{sh.tilde(p[i+1:]), max(-1, v.glob-i-1)}
		}
	}
	if strings.HasPrefix(v.text, "/") && strings.Contains(v.text, ":/") {
		f := clean
		for part := range strings.SplitSeq(v.text, ":") {
			f = f.or(sh.path(value{part, -1}, false, deep))
		}
		return f
	}
	return sh.path(v, false, deep)
}

func (sh *shell) speak(base string, vals []value) source {
	if base == "read" {
		for _, v := range vals {
			if identifier(v.text) == v.text {
				sh.vars[v.text] = []value{{entry, -1}}
			}
		}
	}
	if base == "test" || base == "[" || base == "[[" {
		for _, v := range vals {
			if path.IsAbs(v.text) {
				sh.note(sh.path(v, true, false)) // whether it is there is an answer too
			}
		}
	}
	if base != "echo" && base != "printf" {
		return source{names: slices.Contains(listing, base)}
	}
	var words []string
	for _, v := range vals {
		if !strings.HasPrefix(v.text, "-") {
			words = append(words, v.text)
		}
		if v.glob >= 0 && path.IsAbs(v.text) {
			sh.note(sh.path(v, true, false)) // echo /home/* lists
		}
	}
	text := strings.Join(words, " ")
	made := base == "printf" && strings.ContainsAny(text, `\%`) // \x2f is a slash
	return source{text: text, literal: !made && !strings.ContainsAny(text, unknown+entry)}
}

// loop judges the words of for NAME in …
func (sh *shell) loop(args []word) {
	if len(args) < 2 {
		return
	}
	name, _ := args[0].plain()
	vals := sh.values(args[2:])
	var out []value
	for _, v := range vals {
		sh.note(sh.path(v, false, false))
		if v.glob >= 0 {
			dir := v.text[:v.glob]
			v = value{dir[:strings.LastIndexByte(dir, '/')+1] + entry, -1}
		}
		out = append(out, v)
	}
	if len(out) == 0 || len(out) > maxValues {
		out = []value{{unknown, -1}}
	}
	sh.vars[name] = out
}

func (sh *shell) cd(vals []value) {
	v := first(vals)
	switch {
	case v.text == "" && slices.ContainsFunc(vals, func(v value) bool { return v.text == "-" }):
		return
	case v.text == "":
		sh.cwd = sh.b.home
	case strings.ContainsAny(v.text, unknown):
		sh.note(unclear("went to a folder that was computed"))
	case strings.Contains(v.text, entry) || v.glob >= 0:
		sh.note(sh.path(v, true, false))
		sh.cwd = path.Clean(sh.absolute(strings.ReplaceAll(v.text, entry, "x")))
	default:
		dir := sh.absolute(v.text)
		if f := sh.b.read(dir, false); dir != "/" && !slices.Contains(sh.b.shared, dir) {
			sh.note(f)
		}
		sh.cwd = dir
	}
}

func (sh *shell) export(vals []value) {
	for _, v := range vals {
		if name, text, ok := strings.Cut(v.text, "="); ok {
			sh.vars[name] = []value{{sh.tilde(text), -1}}
		}
	}
}
