package mutate

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
)

// Examples adds short worked examples from answers that users accepted. Its
// evidence is accepted train cases: the answer shown is the reference, not
// the candidate's.
type Examples struct{ Model eval.Model }

// Name implements Operator.
func (*Examples) Name() string { return "examples" }

// Propose implements Operator.
func (x *Examples) Propose(ctx context.Context, in Input) (Proposal, error) {
	var accepted []Evidence
	for _, e := range in.Evidence {
		if e.Case.Reference != "" {
			accepted = append(accepted, Evidence{Case: e.Case, Rollout: &eval.Rollout{Answer: e.Case.Reference, Quality: 1}})
		}
	}
	if len(accepted) == 0 {
		return Proposal{}, &NotApplicableError{"no accepted answer among the train cases"}
	}
	in.Evidence = accepted[:min(4, len(accepted))]
	view, err := rewrite(ctx, x.Model, "examples.txt", in)
	if err != nil {
		return Proposal{}, err
	}
	return propose(in.Parent, view, caseIDs(in.Evidence))
}
