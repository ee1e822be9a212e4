package sleep

import "fmt"

// planCertify is the certification that a new model asks for, nil where there is
// none, or no case for it.
func (c *Cycle) planCertify(o *Outlook, st *State) *Step {
	d := o.Drift
	if d == nil || c.Parts.Certify == nil || !d.To.DriftedFrom(d.From) {
		return nil
	}
	now := st.Certificate(d.Version, d.Previous, d.To)
	cases := 0
	for name, n := range d.Clusters {
		if !now.Tried(name, "") {
			cases += n
		}
	}
	if now.Closed() || cases == 0 {
		return nil
	}
	return &Step{Kind: Certify, Skill: o.Skill, Stage: Planned, Drift: d, Rollouts: int64(cases * now.arms() * max(1, d.Tries)),
		Note: fmt.Sprintf("proved on %v, the agent is %v now: %d held-out cases", d.From, d.To, cases)}
}
