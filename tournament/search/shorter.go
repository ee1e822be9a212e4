package search

import (
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// Shorter is the difference of a text that only lacks lines of another one.
// Such a text may be cheaper, but its answers are tested on the cases alone:
// a line that no check mentions may matter to a request that was never
// recorded. It may also matter to a score, because an agent may need more
// than the checks mention to pass them.
type Shorter struct {
	Untested int `json:"untested"` // lines, whole or in part, that no check mentions
	Tested   int `json:"tested"`   // those that checks mention
}

// ShorterThan compares child with incumbent; nil if it differs by more than
// deletions. A check mentions a line if the line and one of the check's texts
// share half of the words of either.
func ShorterThan(incumbent, child *skill.Document, cases []eval.Case) *Shorter {
	lines, only := mutate.Removed(incumbent, child)
	if !only || incumbent.Hash() == child.Hash() {
		return nil
	}
	var asked []string
	for i := range cases {
		for _, k := range cases[i].Checks {
			for _, text := range []string{k.Feedback, k.Rubric, k.Value, k.Path} {
				if text != "" {
					asked = append(asked, text)
				}
			}
		}
	}
	s := &Shorter{}
	for _, line := range lines {
		if slices.ContainsFunc(asked, func(text string) bool { return mutate.Overlap(line, text) >= 0.5 }) {
			s.Tested++
		} else {
			s.Untested++
		}
	}
	return s
}

// String describes the difference: "shorter: 3 lines that no check mentions".
func (s *Shorter) String() string {
	switch {
	case s.Untested == 0 && s.Tested == 0:
		return "shorter: blank lines"
	case s.Tested == 0:
		return fmt.Sprintf("shorter: %s that no check mentions", plain.Counted(s.Untested, "line"))
	case s.Untested == 0:
		return fmt.Sprintf("shorter: %s that checks mention", plain.Counted(s.Tested, "line"))
	}
	return fmt.Sprintf("shorter: %s that no check mentions, %d that checks mention", plain.Counted(s.Untested, "line"), s.Tested)
}
