package harvest

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
)

// Expire removes the texts of s: what the user and the agent wrote and did, the evidence of
// labels, rules, folders, the branch and what could not be read. Ids, times, counts, usage,
// names of tools and skills, labels and hashes stay. dir says what stays of a skill's folder.
func (s *Session) Expire(dir func(string) string) {
	s.CWD, s.Folders, s.Branch, s.Problems = "", nil, "", nil
	for i := range s.Turns {
		t := &s.Turns[i]
		if t.Prompt, t.Answer, t.Work = "", "", nil; t.Reading != nil {
			t.Reading.Words, t.Reading.Rule = "", ""
		}
	}
	for i, v := range s.Invocations {
		s.Invocations[i].Feedback.Evidence, s.Invocations[i].Dir = "", dir(v.Dir)
	}
}

// A Recording is what a case needs of its session besides what it holds itself: once
// the session's text has expired, it is all that is left of it.
type Recording struct {
	Answer      string   `json:"answer,omitempty"`      // that the user corrected
	Corrections []string `json:"corrections,omitempty"` // the messages that did so, as typed
	Said        string   `json:"said,omitempty"`        // the user's own words in them
	Evidence    string   `json:"evidence,omitempty"`    // of the label
	// Folders are those that the session worked in: whose project the case is of.
	Folders []string `json:"folders,omitempty"`
	Vendor  string   `json:"vendor,omitempty"` // see Session
	// Also are those of the other sessions whose text it may repeat, see eval.Source.
	Also []string `json:"also,omitempty"`

	did *did // nil: nobody recorded it, or it has expired
}

// RecordingOf is what c, a case of s, needs of it.
func RecordingOf(s *Session, c *eval.Case) (rec Recording) {
	if v, ok := useOf(s, c); ok {
		if c.Source.Outcome == string(Corrected) {
			rec = recording(s, v.Turn, assess(s, v).corrections)
		}
		rec.Evidence = assess(s, v).Evidence
	}
	rec.Folders, rec.Vendor = s.WorkedIn(), s.Vendor
	return rec
}

// useOf is the use that c, a case of s, was made of.
func useOf(s *Session, c *eval.Case) (Invocation, bool) {
	for _, v := range append(uniqueUses(s, c.Skill), everyTurn(s, c.Skill)...) {
		if caseID(s, v) == c.ID {
			return v, true
		}
	}
	return Invocation{}, false
}

// TurnsOf are the turn that c, a case of s, was made of, those in which the user corrected
// it, and the one with the answer that they accepted, -1 if there is none. ok is false if c
// is of no turn of s.
func TurnsOf(s *Session, c *eval.Case) (turn int, corrections []int, accepted int, ok bool) {
	v, ok := useOf(s, c)
	if !ok {
		return -1, nil, -1, false
	}
	out := assess(s, v)
	return v.Turn, out.corrections, out.final, true
}

// A Kept is a case whose session's text has expired.
type Kept struct {
	Case eval.Case
	Recording
}

// again has a model write the checks of a case whose session's text has expired. Without
// any that fit, the case stays as it is.
func (m *Miner) again(ctx context.Context, k *Kept, stats *MineStats) error {
	checks, why, err := m.ask(ctx, k.Recording, &k.Case)
	if err != nil {
		return err
	}
	stats.Asked(why)
	if stats.refuse(k.Case.ID, why); why != "" {
		return nil
	}
	k.Case.Checks = checks
	m.clean(&k.Case)
	return nil
}
