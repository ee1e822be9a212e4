package search

import (
	"context"
	"slices"

	"github.com/skill-evolve/evolve/mutate"
)

// Merge joins the best member with one of another line that beats it on some
// validation case.
type Merge struct{}

// Name implements Move.
func (Merge) Name() string { return new(mutate.Merge).Name() }

// Prior implements Move.
func (Merge) Prior() float64 { return 0.5 }

// Urgency implements Urgent.
func (Merge) Urgency(s *State) float64 {
	if s.stated {
		return 2
	}
	return 1
}

// Make implements Move.
func (Merge) Make(ctx context.Context, s *State) (*Change, error) {
	a, best := s.Best(), s.best
	lineage := s.pool.ancestors(best)
	var partners []int
	for i, b := range s.pool.members {
		if i == best || slices.Contains(lineage, i) || slices.Contains(s.pool.ancestors(i), best) || a.tried["merge "+b.SHA] {
			continue
		}
		for k := range b.val {
			if b.val[k].mean() > a.val[k].mean()+1e-9 {
				partners = append(partners, i)
				break
			}
		}
	}
	if len(partners) == 0 {
		return nil, nil
	}
	at := partners[s.Rand.IntN(len(partners))]
	b := s.pool.members[at]
	a.tried["merge "+b.SHA] = true
	if err := s.AtLeast(ctx, a, s.opt.Minibatch); err != nil {
		return nil, err
	}
	in := s.Input(a, nil)
	in.Other, in.Ancestor = b.Variant.Doc, s.pool.members[s.pool.commonAncestor(best, at)].Variant.Doc
	ps, err := s.Ask(ctx, &mutate.Merge{Model: s.Mutator}, a, []mutate.Input{in})
	if err != nil {
		return nil, err
	}
	fails, err := s.Known(ctx, a)
	if err != nil {
		return nil, err
	}
	return &Change{Parent: a, Other: b, Proposals: ps, Targets: fails, Accept: NotWorse{}}, nil
}
