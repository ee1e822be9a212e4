package search

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// A Selector picks the pool index of the next parent.
type Selector interface {
	Select(p *pool, best int, rng *rand.Rand) int
}

// ParetoSelect samples a parent from the instance fronts of the validation
// split, weighted by how many cases it is best on (GEPA, algorithm 2).
type ParetoSelect struct{}

// Select implements Selector.
func (ParetoSelect) Select(p *pool, _ int, rng *rand.Rand) int { return p.fronts.Pick(rng) }

// BestSelect always takes the member with the best shrunk validation mean.
type BestSelect struct{}

// Select implements Selector.
func (BestSelect) Select(_ *pool, best int, _ *rand.Rand) int { return best }

// MixedSelect takes the best with probability Best, else samples the fronts.
// Pure sampling spends most of its budget on stepping stones once the pool has
// grown; pure greed never leaves a local optimum.
type MixedSelect struct{ Best float64 }

// Select implements Selector.
func (s MixedSelect) Select(p *pool, best int, rng *rand.Rand) int {
	if rng.Float64() < s.Best {
		return best
	}
	return p.fronts.Pick(rng)
}

// TopK samples evenly among the K members with the best validation means; ties
// go to the older one.
type TopK struct{ K int }

// Select implements Selector.
func (s TopK) Select(p *pool, best int, rng *rand.Rand) int {
	order := make([]int, len(p.members))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		ma, na := p.members[a].meanVal()
		mb, nb := p.members[b].meanVal()
		if na == 0 || nb == 0 {
			return nb - na // unmeasured last
		}
		return cmp.Compare(mb, ma)
	})
	return order[rng.IntN(min(max(1, s.K), len(order)))]
}

// EpsilonGreedy takes the best, but with probability Epsilon any member alike.
type EpsilonGreedy struct{ Epsilon float64 }

// Select implements Selector.
func (s EpsilonGreedy) Select(p *pool, best int, rng *rand.Rand) int {
	if rng.Float64() >= s.Epsilon {
		return best
	}
	return rng.IntN(len(p.members))
}

// Selectors are the strategies by the names that --select takes.
var Selectors = map[string]Selector{
	"pareto": ParetoSelect{}, "best": BestSelect{}, "mixed": MixedSelect{Best: 0.7}, "top-k": TopK{K: 5},
	"epsilon": EpsilonGreedy{Epsilon: 0.1},
}

// Acceptances are the strategies by the names that --accept takes.
var Acceptances = map[string]Acceptance{"strict": Strict{}, "equal": NotWorse{}}
