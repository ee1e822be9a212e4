package pareto

import (
	"fmt"
	"math"
)

// LifetimeAlpha bounds the expected share of false ones among all promotions of a
// skill that hold over its lifetime.
const LifetimeAlpha = 0.05

// LOND spends one error rate over a lifetime of trials, so that a skill that is
// challenged every night for years does not collect false promotions: e-LOND
// (Xu and Ramdas 2024, "Online multiple testing with e-values", AISTATS,
// arXiv:2311.06412). The t-th trial is judged at α_t = α·γ_t·(R_{t-1}+1), where
// R counts the promotions before it and the γ add up to 1. The false discovery
// rate, the expected share of promotions that had no effect, stays at most α at
// every time, however the trials depend on each other.
//
// A trial's level is fixed when it begins (Config.Within takes it); a promotion
// in the meantime only makes that level stricter than it had to be. The zero
// value with Alpha set is ready for use; its JSON is its state.
type LOND struct {
	Alpha float64 `json:"alpha"`
	// Rejected holds the numbers (from 1, ascending) of the trials whose
	// hypothesis "no better" was rejected: the promotions.
	Rejected []int `json:"rejected,omitempty"`
	// Tested is how many trials have been judged.
	Tested int `json:"tested"`
}

// Level returns α_t for the trial with number t, from 1. The share of trial t is
// γ_t = 1/(t(t+1)): the sum is 1, and the tail heavier than that of 1/t², which
// keeps late trials possible.
func (l *LOND) Level(t int) float64 {
	if t < 1 {
		panic(fmt.Sprintf("pareto: trial number %d, want 1 or more", t))
	}
	before := 0
	for _, r := range l.Rejected {
		if r < t {
			before++
		}
	}
	return l.Share(t, before)
}

// Share is α_t if so many promotions were known when trial t began. Leaving
// out promotions that came later only makes the level stricter. It never
// exceeds α/2.
func (l *LOND) Share(t, before int) float64 {
	if t < 1 || before < 0 || before >= t {
		panic(fmt.Sprintf("pareto: trial number %d after %d promotions", t, before))
	}
	return l.Alpha / (float64(t) * float64(t+1)) * float64(before+1)
}

// Test judges the next trial by its e-value at the moment it was stopped, and
// reports whether it is a promotion: e ≥ 1/α_t. NaN is not.
func (l *LOND) Test(e float64) bool {
	l.Tested++
	won := math.Log(e) >= -math.Log(l.Level(l.Tested))
	if won {
		l.Rejected = append(l.Rejected, l.Tested)
	}
	return won
}
