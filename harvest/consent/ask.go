package consent

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
)

// errUndecided is the cause of Undecided.
var errUndecided = errors.New("nothing new was read: you have not chosen yet which projects evolve may read")

// Undecided is the error of who wants to read sessions before the owner has chosen, and
// cannot ask.
func Undecided() error {
	return &problem.Error{Kind: problem.Input, Err: errUndecided, Hint: ToDecide}
}

// ToDecide is what to type then.
const ToDecide = "`evolve projects list` shows them; `evolve projects allow --all` allows all of them, `evolve projects allow PATH` one"

// IsUndecided reports whether an error is Undecided's.
func IsUndecided(err error) bool { return errors.Is(err, errUndecided) }

// shown is how many projects the question lists at first.
const shown = 10

// Ask asks the owner which projects may be read, and returns the answer: what it changes.
// line prints a question and reads a line; ok is false if there is no terminal, which is
// Undecided. file is the place of the answer, for people.
func Ask(projects []Project, file string, line func(question string) (answer string, ok bool, err error)) (func(*Decisions) error, error) {
	named := slices.DeleteFunc(slices.Clone(projects), func(p Project) bool { return p.Folder == "" })
	listed := min(shown, len(named))
	question := question(projects, named, listed, file)
	for {
		answer, ok, err := line(question)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, Undecided()
		}
		switch answer = strings.ToLower(strings.TrimSpace(answer)); answer {
		case "a", "all":
			return func(d *Decisions) error { d.AllowAll(); return nil }, nil
		case "n", "none":
			return func(*Decisions) error { return nil }, nil
		case "":
			listed = len(named)
			question = list(named) + choices(named, listed)
			continue
		}
		picked, bad := numbers(answer, listed)
		if bad == "" {
			return func(d *Decisions) error {
				for _, p := range named {
					if slices.ContainsFunc(picked, func(n int) bool { return d.Holds(named[n-1].Folder, []string{p.Folder}) }) {
						d.Deny(p.Folder) // until it is picked itself
					}
				}
				for _, n := range picked {
					d.Allow(named[n-1].Folder)
				}
				return nil
			}, nil
		}
		question = fmt.Sprintf("%q is none of the answers.\n", plain.Line(bad)) + choices(named, listed)
	}
}

func question(projects, named []Project, listed int, file string) string {
	b := "Which projects may evolve read? These have sessions with your coding agents:\n\n" + list(named[:listed])
	if more := named[listed:]; len(more) > 0 {
		b += fmt.Sprintf("      and %d more, with %s\n", len(more), plain.Counted(sessions(more), "session"))
	}
	if n := sessions(projects) - sessions(named); n > 0 {
		b += fmt.Sprintf("      %s of no known folder: \"a\" reads them too\n", plain.Counted(n, "session"))
	}
	if nested(named) {
		b += "\nA project inside another one is denied if you choose only the outer one.\n"
	}
	return b + fmt.Sprintf("\nevolve reads them on this machine only. Your answer is kept in\n%s\nand `evolve projects` changes it.\n\n", plain.Text(file)) + choices(named, listed)
}

// nested reports whether a project is inside another one.
func nested(named []Project) bool {
	var d Decisions
	return slices.ContainsFunc(named, func(p Project) bool {
		return slices.ContainsFunc(named, func(q Project) bool { return p != q && d.Holds(p.Folder, []string{q.Folder}) })
	})
}

// choices are the last lines of a question.
func choices(named []Project, listed int) string {
	if len(named) == 0 {
		return "a: all projects   n: none\nYour answer: "
	}
	all := ""
	if listed < len(named) {
		all = fmt.Sprintf("   return: show all %d", len(named))
	}
	only := "1 3: only these"
	switch listed {
	case 1:
		only = "1: only this one"
	case 2:
		only = "1 or 2: only that one"
	}
	return "a: all, later ones too   n: none   " + only + all + "\nYour answer: "
}

// list is a line for each project, with its number.
func list(projects []Project) string {
	var b strings.Builder
	t := plain.NewTable(&b)
	for i, p := range projects {
		last := ""
		if !p.Last.IsZero() {
			last = "last on " + p.Last.Local().Format(time.DateOnly)
		}
		fmt.Fprintf(t, "%4d\t%s\t%s\t%s\n", i+1, plain.Line(p.Folder), plain.Counted(p.Sessions, "session"), last)
	}
	_ = t.Flush() // into memory
	return b.String()
}

func sessions(projects []Project) (n int) {
	for _, p := range projects {
		n += p.Sessions
	}
	return n
}

// numbers reads numbers from 1 to most; bad is the first word that is none.
func numbers(answer string, most int) (out []int, bad string) {
	for _, word := range strings.FieldsFunc(answer, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > most {
			return nil, word
		}
		out = append(out, n)
	}
	if len(out) == 0 {
		return nil, answer
	}
	return out, ""
}
