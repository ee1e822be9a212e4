package mutate

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// Merge crosses two candidates over their common ancestor, block by block and
// without a model. Only where both sides changed the same block differently is
// the model asked to settle it, if there is one; what it adds that is like
// nothing in either text is taken out.
type Merge struct{ Model eval.Model }

// Name implements Operator.
func (*Merge) Name() string { return "merge" }

// Propose implements Operator.
func (m *Merge) Propose(ctx context.Context, in Input) (Proposal, error) {
	if in.Other == nil || in.Ancestor == nil {
		return Proposal{}, &NotApplicableError{"no second parent"}
	}
	view, conflicts := Join(in.Ancestor.View(), in.Parent.View(), in.Other.View())
	if conflicts > 0 && m.Model != nil {
		asked, err := rewrite(ctx, m.Model, "merge.txt", in)
		if err != nil {
			return Proposal{}, err
		}
		view = NewSupport(nil, nil).withoutPassengers(withNewline(in.Parent.View())+in.Other.View(), asked)
	}
	p, err := propose(in.Parent, view, nil, in.Other)
	if err == nil && p.Doc.Hash() == in.Other.Hash() {
		return Proposal{}, &ReplyError{Reason: "the merge is the second parent"}
	}
	return p, err
}

// Combine joins the changes that several proposals made to one parent into one
// text, in order; proposals whose change is already in it, or whose result the
// kernel refuses, are left out. It asks no model.
func Combine(parent *skill.Document, ps []Proposal) (Proposal, error) {
	view := parent.View()
	var taught []string
	for _, p := range ps {
		joined, _ := Join(parent.View(), view, p.Doc.View())
		if _, err := parent.WithView(joined); err != nil {
			continue
		}
		view, taught = joined, append(taught, p.Taught...)
	}
	return propose(parent, view, unique(taught))
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
