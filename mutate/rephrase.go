package mutate

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
)

// Rephrase rewrites the whole text without adding rules: order, wording and
// contradictions. It helps when single edits no longer do. A line that
// resembles nothing in the parent and answers no feedback is no rewording,
// and is removed.
type Rephrase struct{ Model eval.Model }

// Name implements Operator.
func (*Rephrase) Name() string { return "rephrase" }

// Propose implements Operator.
func (r *Rephrase) Propose(ctx context.Context, in Input) (Proposal, error) {
	if len(blocksOf(in.Parent.View())) < 2 {
		return Proposal{}, &NotApplicableError{"the text is a single block"}
	}
	view, err := rewrite(ctx, r.Model, "rephrase.txt", in)
	if err != nil {
		return Proposal{}, err
	}
	shown, _ := shownFeedback(in.Evidence)
	view = NewSupport(shown, in.Corpus).withoutPassengers(in.Parent.View(), view)
	return propose(in.Parent, view, caseIDs(in.Evidence))
}

func caseIDs(ev []Evidence) []string {
	ids := make([]string, len(ev))
	for i, e := range ev {
		ids[i] = e.Case.ID
	}
	return ids
}
