package tournament

import "math/rand/v2"

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
