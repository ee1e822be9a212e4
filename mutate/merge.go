package mutate

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
)

// Merge crosses two candidates over their common ancestor, block by block and
// sentence by sentence, without a model. Only if both sides changed the same
// block differently is the model, if there is one, asked to settle it;
// additions of the model that are like nothing in either text are removed.
type Merge struct{ Model eval.Model }

// Name implements Operator.
func (*Merge) Name() string { return "merge" }

// Propose implements Operator.
func (m *Merge) Propose(ctx context.Context, in Input) (Proposal, error) {
	if in.Other == nil || in.Ancestor == nil {
		return Proposal{}, &NotApplicableError{"no second parent"}
	}
	base, first, second := in.Ancestor.View(), in.Parent.View(), in.Other.View()
	view, conflicts := Join(base, first, second)
	view = unite(base, view, []string{first, second})
	if conflicts > 0 && m.Model != nil {
		asked, err := rewrite(ctx, m.Model, "merge.txt", in)
		if err != nil {
			return Proposal{}, err
		}
		view = NewSupport(nil, nil).withoutPassengers(withNewline(first)+second, asked)
	}
	p, err := propose(in.Parent, view, nil, in.Other)
	if err == nil && p.Doc.Hash() == in.Other.Hash() {
		return Proposal{}, &ReplyError{Reason: "the merge is the second parent"}
	}
	return p, err
}

func unique(ids []string) []string {
	seen := map[string]bool{}
	out := ids[:0:0]
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}
