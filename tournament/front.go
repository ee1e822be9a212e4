package tournament

import (
	"math"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
)

// Front returns the indexes of the metrics that no other dominates on the four
// objectives. Where no price is known, tokens stand for the cost; what is
// unknown does not decide. It is FrontWithin where no noise is known.
func Front(ms []eval.Metrics) []int { return FrontWithin(ms, Noise{}) }

// FrontWithin is Front where a difference below the noise n of the same text
// tried twice is no gain: it dominates nobody.
func FrontWithin(ms []eval.Metrics, n Noise) []int {
	// One unit for all: dollars and tokens cannot be compared.
	priced := !slices.ContainsFunc(ms, func(m eval.Metrics) bool { return m.CostUSD == nil })
	price := n.CostUSD
	if !priced {
		price = n.Tokens
	}
	points := make([]pareto.Point, len(ms))
	for i, m := range ms {
		cost := m.CostUSD
		if !priced {
			cost = m.Tokens
		}
		points[i] = pareto.Point{Values: []float64{m.Quality, less(m.LatencyMS), less(cost), -m.Retries}}
	}
	// Quality and retries are means of fractions: rounding is no difference.
	return pareto.Front(points, []float64{max(1e-9, n.epsilon(&n.Quality)), medianCost * n.epsilon(n.LatencyMS),
		n.epsilon(price), max(1e-9, n.epsilon(&n.Retries))})
}

// less turns a quantity that should be small into a coordinate that should be
// large, NaN where it is unknown.
func less(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return -*x
}
