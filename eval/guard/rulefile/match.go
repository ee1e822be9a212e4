package rulefile

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/shell"
)

// A Call is one of a tool, before it runs, or the end of a turn.
type Call struct {
	Event   string // Stop for the end of a turn, which has no Tool
	Again   bool   // it was kept from ending already, and this is its next end
	Tool    string
	Command string // the line of a shell's call; "" of others
	File    string // absolute, that is edited; "" of other calls
	Root    string // the folder that paths are relative to

	commands []shell.Command
	read     bool
}

// Find is the first rule that stops a call, nil if none does. s is what the calls of the session
// before it came to, and has this one too afterwards; without it no order is broken.
func (f *File) Find(c *Call, s *State) *Rule {
	for i := range f.Rules {
		if f.Rules[i].stops(c, s) {
			return &f.Rules[i]
		}
	}
	if s != nil {
		s.add(f, c)
	}
	return nil
}

// Matches reports whether a rule is about a call, whatever ran before it. Each simple command of a line counts, also
// those in its strings for other shells; what the shell computes is not known, and is no word.
func (r *Rule) Matches(c *Call) bool {
	switch {
	case r.Event != c.Event, r.Event == "" && !slices.Contains(strings.Split(r.Tool, "|"), c.Tool):
		return false
	case r.Path != "":
		return Under(r.Path, c.File, c.Root)
	case r.Program == "":
		return true
	}
	return slices.ContainsFunc(c.simple(), r.about)
}

// simple are the commands of a line, as far as it can be read.
func (c *Call) simple() []shell.Command {
	if !c.read {
		c.commands, _ = shell.Commands(c.Command)
		c.read = true
	}
	return c.commands
}

// All reports whether a rule is about every call of a tool, whatever it is given.
func (r *Rule) All() bool {
	return r.Event == "" && r.Program == "" && strings.Trim(r.Path, "*?/.") == ""
}

func (r *Rule) about(c shell.Command) bool {
	if c.Name() != r.Program {
		return false
	}
	has := func(want string) bool {
		return slices.ContainsFunc(c.Words[1:], func(w shell.Word) bool { return r.is(want, w) })
	}
	return !slices.ContainsFunc(r.Words, func(w string) bool { return !has(w) }) && !slices.ContainsFunc(r.NotWords, has)
}

// oneDash are programs whose flags have one dash and several letters, which are none of one letter
// each.
var oneDash = []string{"find", "go", "java", "javac", "openssl", "terraform"}

// is reports whether an argument is a word of the rule: --flag is in --flag=value, too, and a
// flag of one letter in several behind one dash: -f is in -uf.
func (r *Rule) is(want string, w shell.Word) bool {
	switch {
	case w.Whole && w.Text == want:
		return true
	case strings.HasPrefix(want, "--"):
		return strings.HasPrefix(w.Text, want+"=")
	}
	return w.Whole && len(want) == 2 && letters(want) && letters(w.Text) && strings.Contains(w.Text, want[1:]) && !slices.Contains(oneDash, r.Program)
}

// letters reports whether a word is a dash and letters.
func letters(word string) bool {
	return len(word) > 1 && word[0] == '-' && strings.Trim(strings.ToLower(word[1:]), "abcdefghijklmnopqrstuvwxyz") == ""
}

// Under reports whether a pattern is about a file, as in a .gitignore of the folder root: * and ?
// within a name, ** over folders; a folder is all in it. A pattern that begins with // is about
// files anywhere. One of a single name, x or x/**, is about x at any depth, and else it begins at
// root. A relative file is one of root.
func Under(pattern, file, root string) bool {
	if file == "" {
		return false
	}
	root = path.Clean(root)
	if !path.IsAbs(file) {
		file = path.Join(root, file)
	}
	file = path.Clean(file)
	if rest, ok := strings.CutPrefix(pattern, "//"); ok {
		return glob("/"+rest, file)
	}
	below, ok := strings.CutPrefix(file, strings.TrimSuffix(root, "/")+"/")
	if !ok {
		return false
	}
	pattern = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/**"), "/")
	if !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern
	}
	return glob(strings.TrimPrefix(pattern, "/"), below)
}

// glob reports whether a pattern is about a file or a folder above it.
func glob(pattern, file string) bool {
	var b strings.Builder
	b.WriteString("(?s)^")
	for pattern = strings.TrimSuffix(pattern, "/"); pattern != ""; {
		switch {
		case strings.HasPrefix(pattern, "**/"):
			b.WriteString("(?:.*/)?")
			pattern = pattern[3:]
		case strings.HasPrefix(pattern, "**"):
			b.WriteString(".*")
			pattern = pattern[2:]
		case pattern[0] == '*':
			b.WriteString("[^/]*")
			pattern = pattern[1:]
		case pattern[0] == '?':
			b.WriteString("[^/]")
			pattern = pattern[1:]
		default:
			end := strings.IndexAny(pattern, "*?")
			if end < 0 {
				end = len(pattern)
			}
			b.WriteString(regexp.QuoteMeta(pattern[:end]))
			pattern = pattern[end:]
		}
	}
	b.WriteString("(?:/.*)?$")
	re, err := regexp.Compile(b.String())
	return err == nil && re.MatchString(file) // else it is no UTF-8
}
