package pareto

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// ShareAtLeast is the lower bound of a share of which k of n independent draws were hits,
// at a one-sided level (0.95: the bound is above the share in at most 5 % of samples):
// Clopper and Pearson (1934), exact at a fixed n. 0 without hits, NaN without draws.
func ShareAtLeast(k, n int, level float64) float64 {
	switch {
	case n <= 0:
		return math.NaN()
	case k <= 0:
		return 0
	}
	return distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(1 - level)
}

// ShareAtMost is the upper bound of such a share: 1-(1-level)^(1/n) without hits, 1 if all
// draws were hits, NaN without draws.
func ShareAtMost(k, n int, level float64) float64 { return 1 - ShareAtLeast(n-k, n, level) }
