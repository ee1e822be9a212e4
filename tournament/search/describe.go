package search

import (
	"context"
	"slices"

	"github.com/skill-evolve/evolve/mutate"
)

// Describe asks for a new description of one parent. The model reads wrong
// decisions first and some right ones after them: what is right must stay
// right.
type Describe struct{}

// Name implements Move.
func (Describe) Name() string { return new(mutate.Description).Name() }

// Prior implements Move.
func (Describe) Prior() float64 { return 0 }

// Make implements Move.
func (Describe) Make(ctx context.Context, s *State) (*Change, error) {
	m := s.opt.Selector.Select(s)
	fails, err := s.Failures(ctx, m, 2*s.opt.Group)
	if err != nil || len(fails) == 0 {
		return nil, err
	}
	s.Rand.Shuffle(len(fails), func(i, j int) { fails[i], fails[j] = fails[j], fails[i] })
	idx := slices.Clone(fails[:min(len(fails), 2*s.opt.Group)])
	for _, i := range s.Rand.Perm(len(s.Cases.Train)) {
		if r := m.train[i].last(); r != nil && r.Quality == 1 && len(idx) < 3*s.opt.Group {
			idx = append(idx, i)
		}
	}
	ps, err := s.Ask(ctx, &mutate.Description{Model: s.Mutator}, m, []mutate.Input{s.Input(m, idx)})
	if err != nil {
		return nil, err
	}
	return &Change{Parent: m, Proposals: ps, Targets: fails, Accept: s.opt.Accept}, nil
}
