package pareto

import "math"

// Finite keeps a value that JSON can carry.
func Finite(x float64) float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return math.MaxFloat64
	}
	return x
}
