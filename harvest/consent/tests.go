package consent

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/shell"
)

// A Suite is the test commands of a project that evolve may run to grade an agent's work.
// Their owner typed each of them: what a session or a model proposes is on no list.
type Suite struct {
	Folder   string   `yaml:"folder" json:"folder"` // as Project returns it
	Commands []string `yaml:"commands" json:"commands"`
}

// Argv is a test command as it is run, without a shell: one simple command whose words are
// known, with nothing but variables before it.
func Argv(command string) ([]string, error) {
	list, err := shell.Commands(command)
	if err != nil {
		return nil, err
	}
	if len(list) != 1 || len(list[0].Words) == 0 {
		return nil, errNotSimple
	}
	var argv []string
	for _, w := range slices.Concat(list[0].Assigns, list[0].Words) {
		if !w.Whole || strings.HasPrefix(w.Text, "~") {
			return nil, errors.New("only a shell can expand its words")
		}
		argv = append(argv, w.Text)
	}
	// What is in the line besides the words is an operator: a redirection, a pipe, a `!`.
	if bare(command) != bare(strings.Join(argv, "")) {
		return nil, errNotSimple
	}
	if len(list[0].Assigns) > 0 {
		argv = slices.Insert(argv, 0, "env")
	}
	return argv, nil
}

var errNotSimple = errors.New("it is not one simple command")

// bare is a line without blanks, quotes and backslashes.
func bare(line string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t'\"\\", r) {
			return -1
		}
		return r
	}, line)
}

// Tests are the test commands that the owner confirmed for the project of a folder.
func (d *Decisions) Tests(folder string) []string {
	if i := d.suite(folder); i >= 0 {
		return d.Suites[i].Commands
	}
	return nil
}

func (d *Decisions) suite(folder string) int {
	project := d.Project(folder)
	return slices.IndexFunc(d.Suites, func(s Suite) bool { return project != "" && s.Folder == project })
}

// Confirm puts a test command on the list of a folder's project.
func (d *Decisions) Confirm(folder, command string) {
	i := d.suite(folder)
	if i < 0 {
		i = len(d.Suites)
		d.Suites = append(d.Suites, Suite{Folder: d.Project(folder)})
	}
	if s := &d.Suites[i]; !slices.Contains(s.Commands, command) {
		s.Commands = append(s.Commands, command)
	}
	slices.SortFunc(d.Suites, func(a, b Suite) int { return cmp.Compare(a.Folder, b.Folder) })
}

// Drop takes a test command off the list of a folder's project. It reports whether it was
// on it.
func (d *Decisions) Drop(folder, command string) bool {
	i := d.suite(folder)
	if i < 0 || !slices.Contains(d.Suites[i].Commands, command) {
		return false
	}
	s := &d.Suites[i]
	s.Commands = slices.DeleteFunc(s.Commands, func(c string) bool { return c == command })
	d.Suites = slices.DeleteFunc(d.Suites, func(s Suite) bool { return len(s.Commands) == 0 })
	return true
}
