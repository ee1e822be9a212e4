// Package sought tells whether a command line has a command that is looked for, behind
// `env A=1`, `timeout 5`, `uv run` and the like too.
package sought

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/shell"
)

// An Answer is whether something happened, as far as is known. The order matters: min is
// and, max is or.
type Answer int8

// The answers.
const (
	No Answer = iota
	Maybe
	Yes
)

// A Command is one that is looked for in command lines.
type Command struct {
	program string
	flags   []shell.Word // anywhere among the arguments
	words   []shell.Word // the first of the other arguments, in this order
}

// Parse reads a command that is looked for: one simple command. From the first `*`, `?`, `[`,
// `{` or `…` of a word on, anything matches.
func Parse(value string) (Command, error) {
	list, err := shell.Commands(strings.ReplaceAll(value, "…", "*"))
	if err != nil {
		return Command{}, err
	}
	if len(list) != 1 || len(list[0].Assigns)+len(list[0].Redirects) > 0 || strings.ContainsAny(value, "$`") {
		return Command{}, fmt.Errorf("%q is not one simple command", value)
	}
	c := Command{program: list[0].Name()}
	if c.program == "" {
		return Command{}, errors.New("the program's name is not plain")
	}
	for _, word := range list[0].Words[1:] {
		if Flag(word) {
			c.flags = append(c.flags, word)
		} else {
			c.words = append(c.words, word)
		}
	}
	return c, nil
}

// Flag reports whether a word begins with a dash.
func Flag(w shell.Word) bool { return strings.HasPrefix(w.Text, "-") && w.Text != "-" }

// In reports whether a command line has the command: the program by its name without its
// folder, then the wanted words before any others, with flags, which may have a value, between
// them, and the wanted flags anywhere. Words that the shell computes may be anything.
func (c Command) In(line string) Answer {
	if !strings.Contains(line, c.program) {
		return No // what is not named is not run
	}
	list, err := shell.Commands(line)
	found := No
	if err != nil {
		found = Maybe
	}
	for i := range list {
		found = max(found, c.Is(list[i].Words))
	}
	return found
}

// Is reports whether one of the commands in a line, with its program, is the command.
func (c Command) Is(words []shell.Word) Answer {
	if hides(words, c.program) {
		return max(c.is(words), Maybe)
	}
	return c.is(words)
}

// shells run what they read if they are given no script.
var shells = []string{"sh", "bash", "zsh", "dash", "ksh", "ash", "fish"}

// hides reports whether a command may run the program though it is no word of its own: a
// shell that reads commands, and `env -S`, `trap` and `find -exec` with its name.
func hides(words []shell.Word, program string) bool {
	for i, x := range words {
		args := words[i+1:]
		named := slices.ContainsFunc(args, func(a shell.Word) bool { return !a.Whole || strings.Contains(a.Text, program) })
		has := func(flags ...string) bool {
			return slices.ContainsFunc(args, func(a shell.Word) bool {
				return slices.ContainsFunc(flags, func(f string) bool { return strings.HasPrefix(a.Text, f) })
			})
		}
		switch name := path.Base(x.Text); {
		case !x.Whole:
			return false
		case slices.Contains(shells, name):
			return readsCommands(args)
		case name == "env" && named && has("-S", "-vS", "-iS", "--split-string"), i == 0 && name == "trap" && named,
			name == "find" && named && has("-exec", "-ok"):
			return true
		case !slices.Contains(runners, name) && !Flag(x) && !strings.Contains(x.Text, "=") && !Number(x.Text):
			return false // the others are its arguments
		}
	}
	return false
}

// readsCommands reports whether a shell with these arguments runs what it reads from its
// standard input.
func readsCommands(args []shell.Word) bool {
	for i := 0; i < len(args); i++ {
		switch a := args[i].Text; {
		case a == "-" || a == "-s" || a == "/dev/stdin":
			return true
		case a == "-o" || a == "-O":
			i++
		case !Flag(args[i]) || a == "--version" || a == "--help" || !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c"):
			return false
		}
	}
	return true
}

// runners are programs that run the rest of their arguments.
var runners = []string{"builtin", "command", "doas", "env", "exec", "ionice", "nice", "nohup", "setsid", "stdbuf", "sudo", "time", "timeout", "xargs"}

// maxPrefix is how many words before a program are looked at.
const maxPrefix = 32

// is reports whether words are the command, behind `env A=1`, `timeout 5`, `uv run` and the like
// too.
func (c Command) is(words []shell.Word) Answer {
	found := No
	starts := make([]bool, min(len(words), maxPrefix)+1)
	starts[0] = true
	for i, x := range words[:len(starts)-1] {
		if !starts[i] {
			continue
		}
		found = max(found, min(equalName(c.program, x), c.fits(words[i+1:])))
		next := i + launched(words[i:])
		if x.Whole && slices.Contains(runners, path.Base(x.Text)) {
			next = i + 1
		}
		if next == i {
			continue
		}
		if i+1 < len(words) && path.Base(x.Text) == "command" && Flag(words[i+1]) && strings.ContainsAny(words[i+1].Text, "vV") {
			continue // it tells where the program is
		}
		for k := next; k < len(starts)-1; k++ {
			starts[k] = true
			if y := words[k]; !Flag(y) && !takesValue(words[k-1]) && !strings.Contains(y.Text, "=") && !Number(y.Text) {
				break
			}
		}
	}
	return found
}

// Number reports whether a text begins with a digit.
func Number(s string) bool { return s != "" && '0' <= s[0] && s[0] <= '9' }

// takesValue reports whether the word behind a flag may be its value.
func takesValue(w shell.Word) bool {
	return Flag(w) && w.Text != "--" && !strings.Contains(w.Text, "=")
}

func equalName(name string, w shell.Word) Answer {
	switch {
	case w.Whole && path.Base(w.Text) == name:
		return Yes
	case !w.Whole && w.Text == "":
		return Maybe
	}
	return No
}

// fits reports whether the arguments begin with the wanted words and have the wanted flags.
func (c Command) fits(args []shell.Word) Answer {
	all := Yes
	for _, f := range c.flags {
		has := No
		for _, a := range args {
			has = max(has, equal(f, a))
			if name, _, ok := strings.Cut(a.Text, "="); ok && f.Whole && name == f.Text {
				has = Yes
			}
		}
		if has != Yes && c.combined(f, args) {
			has = Yes
		}
		all = min(all, has)
	}
	// reach[i] is whether the first i wanted words are behind us.
	reach := make([]Answer, len(c.words)+1)
	reach[0] = Yes
	value, plain := false, false
	for _, a := range args {
		if Flag(a) && !plain {
			value, plain = takesValue(a), a.Text == "--"
			continue
		}
		for i := len(c.words); i >= 0; i-- {
			if i < len(c.words) && !value { // a word that was not wanted here
				reach[i] = min(reach[i], No)
			}
			if i > 0 {
				reach[i] = max(reach[i], min(reach[i-1], equal(c.words[i-1], a)))
			}
		}
		value = false
	}
	return min(all, reach[len(c.words)])
}

// bundlers are programs whose flags of one letter may stand behind one dash, with the letters
// that take a value: what follows one of these is no flag.
var bundlers = map[string]string{"chmod": "", "cp": "St", "git": "cCFmStuX", "grep": "ABCdDefm", "ls": "ITw", "mkdir": "m", "mv": "St", "rm": ""}

// combined reports whether arguments have all letters of a flag, in any order and in whatever
// words: rm -fr and rm -r -f are rm -rf.
func (c Command) combined(f shell.Word, args []shell.Word) bool {
	values, ok := bundlers[c.program]
	if !ok || !f.Whole || !letters(f.Text) {
		return false
	}
	seen := ""
	for _, a := range args {
		if a.Text == "--" {
			break
		}
		if !a.Whole || !letters(a.Text) {
			continue
		}
		given := a.Text[1:]
		if end := strings.IndexAny(given, values); end >= 0 {
			given = given[:end+1]
		}
		seen += given
	}
	return strings.Trim(f.Text[1:], seen) == ""
}

// letters reports whether a word is flags of one letter each.
func letters(word string) bool {
	return len(word) > 1 && word[0] == '-' && strings.Trim(strings.ToLower(word[1:]), "abcdefghijklmnopqrstuvwxyz") == ""
}

// equal reports whether an argument is a wanted word.
func equal(want, is shell.Word) Answer {
	switch {
	case is.Whole && (is.Text == want.Text && want.Whole || !want.Whole && strings.HasPrefix(is.Text, want.Text)):
		return Yes
	case is.Whole:
		return No
	case !want.Whole && strings.HasPrefix(is.Text, want.Text):
		return Yes
	case strings.HasPrefix(want.Text, is.Text) || !want.Whole && strings.HasPrefix(is.Text, want.Text):
		return Maybe
	}
	return No
}
