package work

import (
	"path"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/shell"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// A reading is what a command line does, as far as it matters for what is kept of it.
type reading struct {
	names  []string // of its programs
	tests  string
	dumps  bool     // it prints or sets many variables
	writes []string // files into which it writes text that is in the line
	quotes []string // what may name a file in a program that is in the line
}

// read reads a command line that ran in dir.
func read(line, dir string) (r reading) {
	commands, err := shell.Commands(line)
	here := strings.Contains(line, "<<")
	says := here || slices.ContainsFunc(commands, func(c shell.Command) bool { return slices.Contains(writers, base(c.Name())) })
	for i := range commands {
		c := &commands[i]
		name := base(c.Name())
		if name != "." {
			r.names = append(r.names, name)
		}
		if r.tests == "" {
			r.tests = tests(c.Words)
		}
		r.dumps = r.dumps || dumps(name, c)
		at := dir
		if c.Dir.Text != "" {
			at = in(dir, c.Dir.Text)
		}
		writes := func(w shell.Word) {
			if !w.Whole {
				w.Text = "" // of a file that is not known, nothing is kept
			}
			r.writes = append(r.writes, in(at, w.Text))
		}
		// A group of commands has no name, and writes what they say; so does a filter.
		if here || slices.Contains(writers, name) || says && (name == "." || slices.Contains(filters, name)) {
			for _, d := range c.Redirects {
				if strings.HasPrefix(d.Op, ">") && d.Op != ">&" || strings.HasPrefix(d.Op, "&>") {
					writes(d.Word)
				}
			}
		}
		name, words := program(c.Words)
		if edits(name, words, says) {
			for _, w := range words[1:] {
				if of, is := strings.CutPrefix(w.Text, "of="); name == "dd" && !is {
					continue
				} else if name == "dd" {
					w.Text = of
				}
				if !strings.HasPrefix(w.Text, "-") && !strings.ContainsAny(w.Text, " \n") {
					writes(w)
				}
			}
		}
		r.dumps = r.dumps || here && patches(name, words)
		if slices.Contains(interpreters, strings.TrimRight(name, "0123456789.")) {
			r.quotes = strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("'\"` \n", r) })
		}
	}
	if err != nil && (environment.MatchString(line) || here || strings.Contains(harmless.ReplaceAllString(line, ""), ">")) {
		r.dumps = true
	}
	if len(r.names) == 0 {
		r.names = strings.Fields(line)[:1]
		if strings.Contains(r.names[0], "=") {
			r.names[0] = "…"
		}
	}
	return r
}

var (
	// writers print what is in their words.
	writers = []string{"echo", "printf", "jq", "yq"}
	// filters print what comes from a pipe.
	filters = []string{"cat", "base64", "sed", "tr", "envsubst", "awk", "sort", "head", "tail", "openssl", "gunzip", "xxd"}
	// raisers start the program behind them as it is, with options that have no value.
	raisers = []string{"sudo", "doas", "command", "exec", "nohup", "time"}
	// interpreters run programs that may be in the line.
	interpreters = []string{"python", "node", "deno", "bun", "ruby", "perl", "php", "sqlite"}
	// setters set variables, in their words.
	setters = []string{"export", "declare", "typeset", "readonly", "local", "set", "setenv", "setx"}
	// environment finds commands that may set variables in a line that cannot be parsed.
	environment = lazyregexp.New(`(?m)\b(?:env|printenv|export|declare|typeset|setenv)\b|^\s*[A-Za-z_]\w*=`)
	// harmless finds redirections that write to no file.
	harmless = lazyregexp.New(`\d?>&\d|\d?>\s*/dev/null|&>\s*/dev/null|=>|->`)
)

// program is the name of the program that words start, and the words from it on.
func program(words []shell.Word) (string, []shell.Word) {
	for i, w := range words {
		if name := base(w.Text); !w.Whole || !slices.Contains(raisers, name) && (i == 0 || !strings.HasPrefix(w.Text, "-")) {
			return name, words[i:]
		}
	}
	return "", nil
}

// patches reports whether a command changes files that its input names.
func patches(name string, words []shell.Word) bool {
	return name == "patch" || name == "git" && slices.ContainsFunc(words, func(w shell.Word) bool { return w.Text == "apply" || w.Text == "am" })
}

// edits reports whether a command writes text in the line to files among its words; says,
// whether there is text that is written to a pipe.
func edits(name string, words []shell.Word, says bool) bool {
	switch name {
	case "tee", "dd", "cp", "install", "sponge":
		return says
	case "sed", "gsed", "perl":
		return slices.ContainsFunc(words[1:], func(w shell.Word) bool {
			return w.Text == "--in-place" || strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--") && strings.Contains(w.Text, "i")
		})
	}
	return false
}

const (
	few  = 2 // variables that a command sets; fewer are not many
	pack = 4 // that are set for one program
)

// dumps reports whether a command prints or sets many variables.
func dumps(name string, c *shell.Command) bool {
	if len(c.Words) == 0 {
		return len(c.Assigns) >= few
	}
	set := len(c.Assigns)
	rest := 0
	for _, w := range c.Words[1:] {
		switch before, _, is := strings.Cut(w.Text, "="); {
		case is && variable.MatchString(before):
			set++
		case !strings.HasPrefix(w.Text, "-"):
			rest++
		}
	}
	switch {
	case name == "env", name == "printenv":
		return rest == 0 || set >= pack
	case slices.Contains(setters, name):
		printed := len(c.Words) == 1 || len(c.Words) == 2 && c.Words[1].Text == "-p"
		return set >= few || name != "local" && printed
	}
	return set >= pack
}

var variable = lazyregexp.New(`^[A-Z_][A-Z0-9_]*$`)

// in is a file's path from a folder.
func in(dir, file string) string {
	if file = slashed(file); absolute(file) || strings.HasPrefix(file, "~") || dir == "" {
		return file
	}
	return path.Join(dir, file)
}

// device reports whether a path is none of a file that keeps what is written to it.
func device(file string) bool { return strings.HasPrefix(file, "/dev/") }
