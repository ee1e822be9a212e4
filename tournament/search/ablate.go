package search

import (
	"context"
	"slices"

	"github.com/skill-evolve/evolve/mutate"
)

// Ablate deletes, without a model, blocks of the best text that no train case
// mentions. Unsupported additions of the search itself go first and are tried
// on validation alone: they count as passengers unless they show that they
// help. The incumbent's own idle lines follow, all at once and then by
// halves.
type Ablate struct{}

// Name implements Move.
func (Ablate) Name() string { return new(mutate.Ablate).Name() }

// Prior implements Move.
func (Ablate) Prior() float64 { return 0.35 }

// Urgency implements Urgent: deletion becomes urgent once additions stop
// helping.
func (Ablate) Urgency(s *State) float64 { return 1 + 3*float64(s.stale) }

// Make implements Move.
func (Ablate) Make(ctx context.Context, s *State) (*Change, error) {
	m := s.Best()
	in := mutate.Input{Parent: m.Variant.Doc}
	index, text := mutate.Deletable(in)
	if len(index) == 0 || !m.full && s.stale < 2 {
		// A leader without all measurements is soon replaced: the comparison
		// for a deletion is not worth measuring.
		return nil, nil
	}
	support := mutate.NewSupport(s.asked, s.asked)
	_, own := mutate.Deletable(mutate.Input{Parent: s.pool.members[0].Variant.Doc})
	var idle, added []int
	for k, i := range index {
		switch {
		case m.tried[text[k]] || len(support.Answers(text[k])) > 0:
			continue
		case slices.Contains(own, text[k]):
			idle = append(idle, i)
		default:
			added = append(added, i)
		}
	}
	mv := &Change{Parent: m, Accept: NotWorse{Slack: 0.02}, Slack: deletionSlack}
	parts := [][]int{added}
	if len(added) > 0 {
		mv.Accept, mv.Slack, mv.Untested = NotWorse{Slack: 1}, passengerSlack, true
	} else if parts = halve(idle, 4); len(idle) == 0 {
		return nil, nil
	}
	for k, i := range index {
		if slices.Contains(added, i) || len(added) == 0 && slices.Contains(idle, i) {
			m.tried[text[k]] = true
		}
	}
	if !mv.Untested {
		if err := s.AtLeast(ctx, m, s.opt.Minibatch); err != nil {
			return nil, err
		}
	}
	for _, part := range parts {
		got, err := s.Ask(ctx, &mutate.Ablate{Blocks: part}, m, []mutate.Input{in})
		if err != nil {
			return nil, err
		}
		mv.Proposals = append(mv.Proposals, got...)
	}
	return mv, nil
}

// halve cuts idx into at most n parts of about the same size.
func halve(idx []int, n int) (parts [][]int) {
	n = min(n, len(idx))
	for k := range n {
		parts = append(parts, idx[k*len(idx)/n:(k+1)*len(idx)/n])
	}
	return parts
}
