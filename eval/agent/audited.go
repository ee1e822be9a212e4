package agent

import (
	"fmt"

	"github.com/skill-evolve/evolve/eval"
)

// Audited counts the rollouts in which the agent saw forbidden files.
// They have no scores, and the owner has to know their number. Rollouts are
// added one at a time.
type Audited struct {
	all, void, again, unsure int
	why                      string // of the first void one
}

// Count adds a rollout.
func (v *Audited) Count(r *eval.Rollout) {
	v.all++
	switch {
	case r.Status == eval.Void:
		if v.void++; v.why == "" {
			v.why = r.Failure
		}
	case r.Audit == eval.Tainted: // an answer that was asked for again
		v.again++
	case r.Audit == eval.Inconclusive:
		v.unsure++
	}
}

// Warnings is nil if no rollout was void or inconclusive.
func (v *Audited) Warnings() (out []string) {
	if v.void > 0 {
		out = append(out, fmt.Sprintf("%d of %d rollouts are void, the agent read what it must not: %s", v.void, v.all, v.why))
	}
	if v.again > 0 {
		out = append(out, fmt.Sprintf("in %d of %d rollouts the agent read what it must not when it was asked again: that counts as another failure", v.again, v.all))
	}
	if v.unsure > 0 {
		out = append(out, fmt.Sprintf("%d of %d rollouts could not be audited, because the agent ran without a sandbox", v.unsure, v.all))
	}
	return out
}
