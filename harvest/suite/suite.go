// Package suite finds the test commands in a person's own sessions, and the one by which the
// case of a turn can be graded. None is run before its owner has confirmed it.
package suite

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// A Proposal is a test command that agents ran in a project.
type Proposal struct {
	Project  string    `json:"project"`
	Command  string    `json:"command"`
	Sessions int       `json:"sessions"`
	Runs     int       `json:"runs"`
	Passed   int       `json:"passed"` // runs that are known to have passed
	Last     time.Time `json:"last,omitzero"`
}

// own reports whether a person's own agent recorded a session: a checkpoint may be written by
// anyone who can push to its repository.
func own(s *harvest.Session) bool { return !strings.Contains(s.Path, harvest.CheckpointMark+"/") }

// Propose lists the test commands that were run in the projects of sessions, those that
// passed most often first. project is the one of a folder, "" if it is none of interest.
func Propose(sessions []harvest.Session, project func(folder string) string) []Proposal {
	type key struct{ project, command string }
	found := map[key]*Proposal{}
	for i := range sessions {
		s := &sessions[i]
		in := project(s.CWD)
		if in == "" || !own(s) {
			continue
		}
		seen := map[string]bool{}
		for _, t := range s.Turns {
			for _, a := range t.Work {
				for _, r := range a.TestRuns(s.CWD) {
					if _, err := consent.Argv(r.Command); err != nil {
						continue
					}
					p := found[key{in, r.Command}]
					if p == nil {
						p = &Proposal{Project: in, Command: r.Command}
						found[key{in, r.Command}] = p
					}
					p.Runs++
					if r.Passed {
						p.Passed++
					}
					if !seen[r.Command] {
						seen[r.Command] = true
						p.Sessions++
					}
					if t.Time.After(p.Last) {
						p.Last = t.Time
					}
				}
			}
		}
	}
	out := make([]Proposal, 0, len(found))
	for _, p := range found {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b Proposal) int {
		return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(b.Passed, a.Passed), cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Command, b.Command))
	})
	return out
}

// asks finds the word for tests in what a person wrote: most languages have it from English.
var asks = lazyregexp.New(`(?i)\btests?\b|\btest(?:en|et|ing|ed|suite)\b|\bspecs?\b`)

// Command is the test command by which the case of a turn can be graded: the user asked for
// tests there or in a correction, and what was accepted in the end passed it, while the work
// that was corrected is not known to have. One that is confirmed comes first, then the
// shortest, which tests most. It is "" if there is none. corrections and accepted are as for
// harvest.Miner.Checks.
func Command(s *harvest.Session, turn int, corrections []int, accepted int, confirmed []string) string {
	if accepted < turn || !slices.ContainsFunc(append([]int{turn}, corrections...), func(t int) bool { return asks.MatchString(s.Own(t)) }) {
		return ""
	}
	passed := passing(s, turn, accepted)
	if len(corrections) > 0 {
		before := passing(s, turn, turn)
		passed = slices.DeleteFunc(passed, func(c string) bool { return slices.Contains(before, c) })
	}
	best := ""
	for _, c := range passed {
		ok := slices.Contains(confirmed, c)
		if _, err := consent.Argv(c); err != nil || !ok && !own(s) {
			continue
		}
		better := cmp.Or(cmp.Compare(len(best), len(c)), cmp.Compare(best, c)) > 0
		if was := slices.Contains(confirmed, best); best == "" || ok && !was || ok == was && better {
			best = c
		}
	}
	return best
}

// passing are the test commands of which the last run in some turns passed, with no later
// edit.
func passing(s *harvest.Session, from, to int) (commands []string) {
	for _, t := range s.Turns[from : to+1] {
		for _, a := range t.Work {
			if a.Kind == work.Changed && !strings.HasPrefix(a.File, work.Memory) {
				commands = nil
			}
			for _, r := range a.TestRuns(s.CWD) {
				commands = slices.DeleteFunc(commands, func(c string) bool { return c == r.Command })
				if r.Passed {
					commands = append(commands, r.Command)
				}
			}
		}
	}
	return commands
}

// Check is the check that a case has of a confirmed test command.
func Check(command string) (eval.Check, error) {
	argv, err := consent.Argv(command)
	return eval.Check{Type: eval.Tests, Value: command, Command: argv}, err
}

// Confirmed reports whether a check is that of a command on a list.
func Confirmed(k *eval.Check, list []string) bool {
	want, err := Check(k.Value)
	return err == nil && slices.Contains(list, k.Value) && slices.Equal(want.Command, k.Command)
}
