package check

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/shell"
)

// A wish is a command that a check looks for in command lines.
type wish struct {
	program string
	flags   []shell.Word // anywhere among the arguments
	words   []shell.Word // the first of the other arguments, in this order
}

// wanted reads the value of a ran check: one simple command. From the first `*`, `?`, `[`,
// `{` or `…` of a word on, anything matches.
func wanted(value string) (wish, error) {
	list, err := shell.Commands(strings.ReplaceAll(value, "…", "*"))
	if err != nil {
		return wish{}, err
	}
	if len(list) != 1 || len(list[0].Assigns)+len(list[0].Redirects) > 0 || strings.ContainsAny(value, "$`") {
		return wish{}, fmt.Errorf("%q is not one simple command", value)
	}
	w := wish{program: list[0].Name()}
	if w.program == "" {
		return wish{}, errors.New("the program's name is not plain")
	}
	for _, word := range list[0].Words[1:] {
		if flag(word) {
			w.flags = append(w.flags, word)
		} else {
			w.words = append(w.words, word)
		}
	}
	return w, nil
}

func flag(w shell.Word) bool { return strings.HasPrefix(w.Text, "-") && w.Text != "-" }

// in reports whether a command line has the command: the program by its name without its
// folder, then the wanted words before any others, with flags, which may have a value, between
// them, and the wanted flags anywhere. Words that the shell computes may be anything.
func (w wish) in(line string) answer {
	if !strings.Contains(line, w.program) {
		return no // what is not named is not run
	}
	list, err := shell.Commands(line)
	found := no
	if err != nil {
		found = maybe
	}
	for i := range list {
		found = max(found, w.is(list[i].Words))
		if hides(list[i].Words, w.program) {
			found = max(found, maybe)
		}
	}
	return found
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
		case !slices.Contains(runners, name) && !flag(x) && !strings.Contains(x.Text, "=") && !number(x.Text):
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
		case !flag(args[i]) || a == "--version" || a == "--help" || !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c"):
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
func (w wish) is(words []shell.Word) answer {
	found := no
	starts := make([]bool, min(len(words), maxPrefix)+1)
	starts[0] = true
	for i, x := range words[:len(starts)-1] {
		if !starts[i] {
			continue
		}
		found = max(found, min(equalName(w.program, x), w.fits(words[i+1:])))
		next := i + launched(words[i:])
		if x.Whole && slices.Contains(runners, path.Base(x.Text)) {
			next = i + 1
		}
		if next == i {
			continue
		}
		if i+1 < len(words) && path.Base(x.Text) == "command" && flag(words[i+1]) && strings.ContainsAny(words[i+1].Text, "vV") {
			continue // it tells where the program is
		}
		for k := next; k < len(starts)-1; k++ {
			starts[k] = true
			if y := words[k]; !flag(y) && !takesValue(words[k-1]) && !strings.Contains(y.Text, "=") && !number(y.Text) {
				break
			}
		}
	}
	return found
}

func number(s string) bool { return s != "" && '0' <= s[0] && s[0] <= '9' }

// takesValue reports whether the word behind a flag may be its value.
func takesValue(w shell.Word) bool {
	return flag(w) && w.Text != "--" && !strings.Contains(w.Text, "=")
}

func equalName(name string, w shell.Word) answer {
	switch {
	case w.Whole && path.Base(w.Text) == name:
		return yes
	case !w.Whole && w.Text == "":
		return maybe
	}
	return no
}

// fits reports whether the arguments begin with the wanted words and have the wanted flags.
func (w wish) fits(args []shell.Word) answer {
	all := yes
	for _, f := range w.flags {
		has := no
		for _, a := range args {
			has = max(has, equal(f, a))
			if name, _, ok := strings.Cut(a.Text, "="); ok && f.Whole && name == f.Text {
				has = yes
			}
		}
		if has != yes && w.combined(f, args) {
			has = yes
		}
		all = min(all, has)
	}
	// reach[i] is whether the first i wanted words are behind us.
	reach := make([]answer, len(w.words)+1)
	reach[0] = yes
	value, plain := false, false
	for _, a := range args {
		if flag(a) && !plain {
			value, plain = takesValue(a), a.Text == "--"
			continue
		}
		for i := len(w.words); i >= 0; i-- {
			if i < len(w.words) && !value { // a word that was not wanted here
				reach[i] = min(reach[i], no)
			}
			if i > 0 {
				reach[i] = max(reach[i], min(reach[i-1], equal(w.words[i-1], a)))
			}
		}
		value = false
	}
	return min(all, reach[len(w.words)])
}

// bundlers are programs whose flags of one letter may stand behind one dash, with the letters
// that take a value: what follows one of these is no flag.
var bundlers = map[string]string{"chmod": "", "cp": "St", "git": "cCFmStuX", "grep": "ABCdDefm", "ls": "ITw", "mkdir": "m", "mv": "St", "rm": ""}

// combined reports whether arguments have all letters of a flag, in any order and in whatever
// words: rm -fr and rm -r -f are rm -rf.
func (w wish) combined(f shell.Word, args []shell.Word) bool {
	values, ok := bundlers[w.program]
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
func equal(want, is shell.Word) answer {
	switch {
	case is.Whole && (is.Text == want.Text && want.Whole || !want.Whole && strings.HasPrefix(is.Text, want.Text)):
		return yes
	case is.Whole:
		return no
	case !want.Whole && strings.HasPrefix(is.Text, want.Text):
		return yes
	case strings.HasPrefix(want.Text, is.Text) || !want.Whole && strings.HasPrefix(is.Text, want.Text):
		return maybe
	}
	return no
}

// writers are programs that change the files that they are given, by the flag that makes them
// do so.
var writers = map[string]string{"cp": "", "gofmt": "-w", "goimports": "-w", "install": "", "ln": "", "mv": "", "perl": "-", "prettier": "--w",
	"rm": "", "sed": "-", "tee": "", "touch": "", "truncate": ""}

// changers are programs that need not name the files that they change, by their subcommands.
var changers = map[string][]string{"patch": nil, "tar": nil, "unzip": nil,
	"git": {"am", "apply", "checkout", "cherry-pick", "clean", "merge", "mv", "pull", "rebase", "reset", "restore", "revert", "rm", "stash", "switch"}}

// writes reports whether a command line evidently writes one of the files that differ.
func (w *Work) writes(line string) bool {
	list, _ := shell.Commands(line)
	return len(w.Files) > 0 && slices.ContainsFunc(list, func(c shell.Command) bool { return edits(&c, w.names) })
}

// MayEdit reports whether a command line edits files in the workspace as far as it shows, or
// cannot be read. What other programs write is not seen.
func MayEdit(line string) bool {
	list, err := shell.Commands(line)
	return err != nil || slices.ContainsFunc(list, func(c shell.Command) bool {
		return edits(&c, func(x shell.Word) bool {
			return !x.Whole || !flag(x) && !number(x.Text) && !strings.HasPrefix(x.Text, "/dev/") && !strings.HasPrefix(x.Text, "/tmp/")
		})
	})
}

// edits reports whether a command writes one of the files that are of interest, or changes
// files that it does not name.
func edits(c *shell.Command, interest func(shell.Word) bool) bool {
	for _, r := range c.Redirects {
		if strings.Contains(r.Op, ">") && interest(r.Word) {
			return true
		}
	}
	if subs, ok := changers[c.Name()]; ok {
		return subs == nil || slices.ContainsFunc(c.Words, func(x shell.Word) bool { return slices.Contains(subs, x.Text) })
	}
	how, ok := writers[c.Name()]
	return ok && slices.ContainsFunc(c.Words[1:], interest) &&
		slices.ContainsFunc(c.Words, func(x shell.Word) bool { return how == "" || inPlace(x.Text, how) })
}

// inPlace reports whether a flag makes a program change its files: for sed and perl, one with
// an i.
func inPlace(arg, how string) bool {
	if how != "-" {
		return strings.HasPrefix(arg, how)
	}
	return strings.HasPrefix(arg, "--in-place") || strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.Contains(arg, "i")
}

// names reports whether a word may be one of the files that differ, or a folder with one.
func (w *Work) names(x shell.Word) bool {
	if !x.Whole {
		return len(w.Files) > 0
	}
	text := path.Clean(strings.TrimSuffix(x.Text, "..."))
	return slices.ContainsFunc(w.Files, func(c Change) bool {
		return text == "." || path.Base(text) == path.Base(c.Path) || strings.HasPrefix(c.Path, text+"/")
	})
}
