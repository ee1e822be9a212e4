package tournament

import (
	"math"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
)

// Front returns the indexes of the metrics that no other dominates on the four
// objectives. Where no price is known, tokens stand for the cost; what is
// unknown does not decide.
func Front(ms []eval.Metrics) []int {
	points := make([]pareto.Point, len(ms))
	for i, m := range ms {
		cost := m.CostUSD
		if cost == nil {
			cost = m.Tokens
		}
		points[i] = pareto.Point{Values: []float64{m.Quality, less(m.LatencyMS), less(cost), -m.Retries}}
	}
	// Quality and retries are means of fractions: rounding is no difference.
	return pareto.Front(points, []float64{1e-9, 0, 0, 1e-9})
}

// less turns a quantity that should be small into a coordinate that should be
// large, NaN where it is unknown.
func less(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return -*x
}
