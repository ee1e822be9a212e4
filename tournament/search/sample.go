package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate"
)

// Failures returns the indexes of train cases that m fails, the worst first,
// and measures more while there are fewer than want. The cases that m's
// ancestors failed come first: they are the likeliest to teach something.
func (s *State) Failures(ctx context.Context, m *Member, want int) ([]int, error) {
	fails, err := s.Known(ctx, m)
	// Each turn tries at least one more case, so there are no more turns than cases.
	for range s.Cases.Train {
		rest := s.untried(m)
		if err != nil || len(fails) >= want || len(rest) == 0 {
			break
		}
		if err = s.measureTrain(ctx, m, rest[:min(len(rest), s.opt.Minibatch)], 0); err == nil {
			fails, err = s.Known(ctx, m)
		}
	}
	return fails, err
}

// Known lists the train cases that m is known to fail. If m passes most of
// what it was tried on, a failure may be noise: it counts once a second trial
// has failed as well.
func (s *State) Known(ctx context.Context, m *Member) ([]int, error) {
	var fails, once []int
	passed := 0
	for i := range s.Cases.Train {
		r := &m.train[i]
		if math.IsNaN(r.mean()) {
			continue
		}
		if persistent(r) == nil {
			passed++
			continue
		}
		fails = append(fails, i)
		if r.trials() == 1 {
			once = append(once, i)
		}
	}
	if len(once) > 0 && passed > len(fails) {
		if err := s.measureTrain(ctx, m, once, 1); err != nil {
			return nil, err
		}
		fails = slices.DeleteFunc(fails, func(i int) bool { return persistent(&m.train[i]) == nil })
	}
	for _, i := range fails {
		s.learnFeedback(m.train[i].last())
	}
	slices.SortStableFunc(fails, func(a, b int) int { return cmp.Compare(m.train[a].mean(), m.train[b].mean()) })
	return fails, nil
}

// persistent returns the newest rollout of r with the feedback of only those
// checks that failed in every trial, nil if none did.
func persistent(r *attempts) *eval.Rollout {
	last := r.last()
	if last == nil || last.Quality >= 1 {
		return nil
	}
	out := *last
	out.Checks = slices.Clone(last.Checks)
	failing := len(out.Checks) == 0
	for k := range out.Checks {
		for t := range r.trials() {
			if x := r.at(t); x.Status == eval.Done && k < len(x.Checks) && x.Checks[k].Score >= 1 {
				out.Checks[k].Score = 1
			}
		}
		failing = failing || out.Checks[k].Score < 1
	}
	if !failing {
		return nil
	}
	return &out
}

// untried lists the train cases that m was not tried on: first those that the
// nearest ancestor with a score failed, then those without a score of any
// ancestor, then those that the ancestor passed; in random order within each.
// A case without a result (its rollout is missing, or void) counts as tried:
// another attempt would mostly end the same way.
func (s *State) untried(m *Member) []int {
	lineage := s.pool.ancestors(s.pool.index(m))
	var tiers [3][]int
	for _, i := range s.Rand.Perm(len(s.Cases.Train)) {
		if m.train[i].trials() > 0 {
			continue
		}
		tier := 1
		for _, a := range lineage[1:] {
			if q := s.pool.members[a].train[i].mean(); !math.IsNaN(q) {
				tier = 0
				if q >= 1 {
					tier = 2
				}
				break
			}
		}
		tiers[tier] = append(tiers[tier], i)
	}
	return slices.Concat(tiers[0], tiers[1], tiers[2])
}

// evidence turns train cases into what a mutator may see.
func (s *State) evidence(m *Member, idx []int) []mutate.Evidence {
	var out []mutate.Evidence
	for _, i := range idx {
		if r := cmp.Or(persistent(&m.train[i]), m.train[i].last()); r != nil {
			out = append(out, mutate.Evidence{Case: &s.Cases.Train[i], Rollout: r})
		}
	}
	return out
}
