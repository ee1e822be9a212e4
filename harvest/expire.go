package harvest

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
)

// Expire removes the texts of s: what the user and the agent wrote, the evidence of
// labels, folders, the branch and what could not be read. Ids, times, counts, usage,
// names of tools and skills, labels and hashes stay. dir says what stays of a skill's
// folder.
func (s *Session) Expire(dir func(string) string) {
	s.CWD, s.Branch, s.Problems = "", "", nil
	for i := range s.Turns {
		s.Turns[i].Prompt, s.Turns[i].Answer = "", ""
	}
	for i := range s.Invocations {
		v := &s.Invocations[i]
		v.Feedback.Evidence = ""
		if v.Dir != "" {
			v.Dir = dir(v.Dir)
		}
	}
}

// A Recording is what a case needs of its session besides what it holds itself: once
// the session's text has expired, it is all that is left of it.
type Recording struct {
	Answer      string   `json:"answer,omitempty"`      // that the user corrected
	Corrections []string `json:"corrections,omitempty"` // the messages that did so, as typed
	Said        string   `json:"said,omitempty"`        // the user's own words in them
	Evidence    string   `json:"evidence,omitempty"`    // of the label
}

// RecordingOf is what c, which was mined from s, needs of it; nil if no use in s is the
// one that c was made of.
func RecordingOf(s *Session, c *eval.Case) *Recording {
	if c.Source == nil || c.Source.Origin != "mined" {
		return nil
	}
	for _, v := range uniqueUses(s, c.Skill) {
		if caseID(s, v) != c.ID {
			continue
		}
		out := assess(s, v)
		rec := recording(s, v, out)
		rec.Evidence = v.Feedback.Evidence
		if Label(c.Source.Outcome) != Corrected {
			rec = Recording{Evidence: rec.Evidence}
		}
		return &rec
	}
	return nil
}

// A Kept is a case whose session's text has expired.
type Kept struct {
	Case eval.Case
	Recording
}

// again has a model write the checks of a case whose session's text has expired. Without
// any that fit, the case stays as it is.
func (m *Miner) again(ctx context.Context, k *Kept, stats *MineStats) error {
	checks, why, err := m.ask(ctx, k.Recording, &k.Case, stats)
	switch {
	case err != nil:
		return err
	case why != "":
		stats.Fallbacks[why]++
		return nil
	}
	k.Case.Checks = checks
	m.clean(&k.Case)
	return nil
}
