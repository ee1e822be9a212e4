package search

import (
	"cmp"
	"slices"
)

// A Selector picks the next parent.
type Selector interface {
	Select(s *State) *Member
}

// ParetoSelect samples a parent from the instance fronts of the validation
// split, weighted by the number of cases on which it is best (GEPA, algorithm
// 2).
type ParetoSelect struct{}

// Select implements Selector.
func (ParetoSelect) Select(s *State) *Member { return s.Members()[s.Fronts().Pick(s.Rand)] }

// BestSelect always takes the member with the best shrunk validation mean.
type BestSelect struct{}

// Select implements Selector.
func (BestSelect) Select(s *State) *Member { return s.Best() }

// MixedSelect takes the best with probability Best, else samples the fronts.
// Pure sampling spends most of its budget on stepping stones once the pool
// has grown; pure greed never leaves a local optimum.
type MixedSelect struct{ Best float64 }

// Select implements Selector.
func (m MixedSelect) Select(s *State) *Member {
	if s.Rand.Float64() < m.Best {
		return s.Best()
	}
	return ParetoSelect{}.Select(s)
}

// TopK samples evenly among the K members with the best validation means; ties
// go to the older one.
type TopK struct{ K int }

// Select implements Selector.
func (t TopK) Select(s *State) *Member {
	order := slices.Clone(s.Members())
	slices.SortStableFunc(order, func(a, b *Member) int {
		ma, na := a.Validation()
		mb, nb := b.Validation()
		if na == 0 || nb == 0 {
			return nb - na // unmeasured last
		}
		return cmp.Compare(mb, ma)
	})
	return order[s.Rand.IntN(min(max(1, t.K), len(order)))]
}

// EpsilonGreedy takes the best, but with probability Epsilon any member with
// equal chances.
type EpsilonGreedy struct{ Epsilon float64 }

// Select implements Selector.
func (e EpsilonGreedy) Select(s *State) *Member {
	if s.Rand.Float64() >= e.Epsilon {
		return s.Best()
	}
	return s.Members()[s.Rand.IntN(len(s.Members()))]
}

// Selectors are the strategies by the names that --select takes.
var Selectors = map[string]Selector{
	"pareto": ParetoSelect{}, "best": BestSelect{}, "mixed": MixedSelect{Best: 0.7}, "top-k": TopK{K: 5},
	"epsilon": EpsilonGreedy{Epsilon: 0.1},
}

// Acceptances are the strategies by the names that --accept takes.
var Acceptances = map[string]Acceptance{"strict": Strict{}, "equal": NotWorse{}}
