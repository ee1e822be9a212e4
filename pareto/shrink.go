package pareto

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

// Shrink corrects the validation means of several candidates for the winner's
// curse: the best of many noisy means is too high, the more so the fewer
// rollouts it rests on. It is empirical Bayes with normal candidates and
// normal noise (Efron and Morris 1973; James and Stein 1961): candidate i has
// the mean of counts[i] rollouts, each with the variance noise, and the
// candidates' true means spread normally around a common centre; centre and
// spread are estimated from the means themselves (DerSimonian and Laird
// 1986). Each mean is then moved towards the centre by the share of its
// variance that is noise.
//
// A candidate with no rollouts or a NaN mean gets the centre; with fewer than
// two measured candidates the spread cannot be estimated, and means are
// returned unchanged. The order of candidates with equal counts never
// changes. It panics if the lengths differ, a count is negative, or noise is
// negative or not finite.
func Shrink(means []float64, counts []int, noise float64) []float64 {
	if len(means) != len(counts) || !(noise >= 0) || math.IsInf(noise, 1) {
		panic(fmt.Sprintf("pareto: shrink %d means with %d counts and noise %g", len(means), len(counts), noise))
	}
	out := append([]float64(nil), means...)
	var m, precision []float64 // of the measured, precision in units of 1/noise
	for i, n := range counts {
		if n < 0 {
			panic(fmt.Sprintf("pareto: shrink with count %d", n))
		}
		if n > 0 && !math.IsNaN(means[i]) {
			m = append(m, means[i])
			precision = append(precision, float64(n))
		}
	}
	spread := 0.0 // variance of the true means
	if len(m) >= 2 {
		// Cochran's Q times noise, which may be 0.
		centre := stat.Mean(m, precision)
		q, sum, squares := 0.0, 0.0, 0.0
		for i, w := range precision {
			q += w * (m[i] - centre) * (m[i] - centre)
			sum += w
			squares += w * w
		}
		spread = max(0, (q-noise*float64(len(m)-1))/(sum-squares/sum))
	}
	if len(m) == 0 {
		return out
	}
	weights := make([]float64, len(m)) // one over the variance of each mean
	for i, n := range precision {
		if v := spread + noise/n; v > 0 {
			weights[i] = 1 / v
		} else { // no spread, no noise: all are equal
			weights[i] = 1
		}
	}
	centre := stat.Mean(m, weights)
	for i, n := range counts {
		switch {
		case n == 0 || math.IsNaN(means[i]):
			out[i] = centre
		case len(m) >= 2 && noise > 0:
			v := noise / float64(n)
			out[i] = centre + spread/(spread+v)*(means[i]-centre)
		}
	}
	return out
}
