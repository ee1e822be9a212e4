package search

import (
	"math"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
)

// Front returns the indexes of the metrics that no other dominates on the
// four objectives. If a price is missing, tokens replace the cost; what is
// unknown does not decide. A difference within the noise n of the same text
// tried twice is no gain: it dominates nothing.
func Front(ms []eval.Metrics, n Noise) []int {
	// One unit for all: dollars and tokens cannot be compared.
	priced := !slices.ContainsFunc(ms, func(m eval.Metrics) bool { return m.CostUSD == nil })
	points := make([]pareto.Point, len(ms))
	for i, m := range ms {
		cost := m.CostUSD
		if !priced {
			cost = m.Tokens
		}
		points[i] = pareto.Point{Values: []float64{m.Quality, less(m.LatencyMS), less(cost), -m.Retries}}
	}
	eps := n.Epsilon(priced)
	return pareto.Front(points, eps[:])
}

// Epsilon is the difference of two candidates' means that noise alone makes,
// and that is therefore no gain: in quality, latency (ms, of medians), cost
// (USD if priced, else tokens) and retries. It is 0 for what was not
// measured, except that quality and retries, means of fractions, have at
// least their rounding error.
func (n Noise) Epsilon(priced bool) [4]float64 {
	price := n.CostUSD
	if !priced {
		price = n.Tokens
	}
	return [4]float64{max(1e-9, n.epsilon(&n.Quality)), medianCost * n.epsilon(n.LatencyMS), n.epsilon(price), max(1e-9, n.epsilon(&n.Retries))}
}

// less turns a quantity that should be small into a coordinate that should be
// large, NaN if it is unknown.
func less(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return -*x
}
