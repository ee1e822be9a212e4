package sleep

import (
	"fmt"
	"slices"
)

// Trust says whose word alone counts in a certificate, as the night was planned.
type Trust struct {
	// Judge is tonight's, by its grader's identity, where clusters that rest on its
	// word alone are to be tried; "" where they are left out.
	Judge string `json:"judge,omitempty"`
	// Ask is about how many of the owner's labels it has to be asked first.
	Ask int `json:"ask,omitempty"`
	// Trusted are the judges, of this night and of earlier ones, that agree with
	// the owner's labels as far as the records tell.
	Trusted []string `json:"trusted,omitempty"`
}

// Trusts reports whether what the judge alone says is evidence.
func (t Trust) Trusts(judge string) bool { return slices.Contains(t.Trusted, judge) }

// certificate is what is known of the version on the model. What was not decided
// against a version that is gone by now never will be.
func (d *Drift) certificate(st *State) Certificate {
	c := st.Certificate(d.Version, d.Previous, d.To)
	if d.Previous == "" && c.Recount(d.Trusts).Outcome == Open {
		c.Previous, c.Reason = "", ""
	}
	return c
}

// planCertify is the certification that a new model asks for, nil where there is
// none, or no case for it. Where there are only cases that it must not count, it
// is Skipped, and says why.
func (c *Cycle) planCertify(o *Outlook, st *State) *Step {
	d := o.Drift
	if d == nil || c.Parts.Certify == nil || !d.To.DriftedFrom(d.From) {
		return nil
	}
	now := d.certificate(st).Recount(d.Trusts)
	if now.Closed() {
		return nil
	}
	cases := 0
	for name, n := range d.Clusters {
		if !now.Tried(name, "") {
			cases += n
		}
	}
	s := &Step{Kind: Certify, Skill: o.Skill, Stage: Planned, Drift: d, Rollouts: int64(cases * now.arms() * max(1, d.Tries)),
		Note: fmt.Sprintf("proved on %v, the agent is %v now: %d held-out cases", d.From, d.To, cases)}
	switch {
	case cases > 0 && d.Ask > 0:
		s.Note += fmt.Sprintf(", once the judge has been tried on %d of your labels", d.Ask)
	case cases > 0:
	case d.Unproven > 0:
		s.Stage = Skipped
		s.Note = fmt.Sprintf("proved on %v, the agent is %v now, and %s", d.From, d.To, unproven(d.Unproven, o.Skill))
	default:
		return nil
	}
	return s
}

// unproven says that so many held-out cases count for nothing.
func unproven(cases int, skill string) string {
	return fmt.Sprintf("%d held-out cases rest on a judge that is not shown to agree with you: they prove nothing; `evolve review %s` adds labels", cases, skill)
}
