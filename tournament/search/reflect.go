package search

import (
	"context"
	"slices"

	"github.com/skill-evolve/evolve/mutate"
)

// reflectOn is how many groups of failures a round looks for; it takes all that are known.
// It does not grow with Options.Proposals: another reflection answers other complaints of
// the same failures, and costs no rollouts.
const reflectOn = 4

// Reflect asks for several reflections on different failures of one parent.
type Reflect struct{}

// Name implements Move.
func (Reflect) Name() string { return new(mutate.Reflect).Name() }

// Prior implements Move.
func (Reflect) Prior() float64 { return 1.7 }

// Make implements Move.
func (Reflect) Make(ctx context.Context, s *State) (*Change, error) {
	m := s.parent()
	fails, err := s.Failures(ctx, m, reflectOn*s.opt.Group)
	if err != nil || len(fails) == 0 {
		return nil, err
	}
	s.Rand.Shuffle(len(fails), func(i, j int) { fails[i], fails[j] = fails[j], fails[i] })
	inputs := mutate.Divide(s.evidence(m, fails), s.corpus, s.opt.Proposals, s.opt.Group)
	for k, part := range inputs {
		in := s.Input(m, nil)
		in.Doubted = s.doubted
		in.Evidence, in.Failing, in.Passing = part.Evidence, part.Failing, s.passing(m)
		inputs[k] = in
	}
	ps, err := s.Ask(ctx, &mutate.Reflect{Model: s.Mutator}, m, inputs)
	if err != nil {
		return nil, err
	}
	for _, p := range ps {
		s.supported = s.supported || p.Supported
		for _, line := range p.Doubted {
			if !slices.Contains(s.doubted, line) {
				s.doubted = append(s.doubted, line)
			}
		}
	}
	if s.supported {
		// In this run shared words show which changes answer the feedback: a
		// change that shares none is a guess.
		n := len(ps)
		ps = slices.DeleteFunc(ps, func(p mutate.Proposal) bool { return !p.Supported })
		s.stats.Guesses += n - len(ps)
	}
	return &Change{Parent: m, Proposals: ps, Targets: s.targets(ps, fails), Accept: s.opt.Accept, Stone: true}, nil
}

// parent chooses what a reflection works on. Two that work on one text at the same time find
// much the same.
func (s *State) parent() *Member {
	m := s.opt.Selector.Select(s)
	if n := len(s.stones); n > 0 {
		m, s.stones = s.stones[n-1], s.stones[:n-1]
	}
	for n := 0; n < 8 && s.elsewhere(m); n++ { // there may be no other
		m = ParetoSelect{}.Select(s)
	}
	s.lane().parent = m
	return m
}

// targets lists the failures that the proposals claim to answer, then the
// rest.
func (s *State) targets(ps []mutate.Proposal, fails []int) []int {
	taught := map[string]bool{}
	for _, p := range ps {
		for _, id := range p.Taught {
			taught[id] = true
		}
	}
	var first, rest []int
	for _, i := range fails {
		if taught[s.Cases.Train[i].ID] {
			first = append(first, i)
		} else {
			rest = append(rest, i)
		}
	}
	return append(first, rest...)
}
