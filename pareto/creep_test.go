package pareto

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCreep: 20 challengers one after the other, each two points worse and a fifth cheaper,
// on 150 cases each at the level of a single trial, the laxest. Without a bound over all of them, quality
// creeps away; with it, the sum of what they lose stays within the margin.
func TestCreep(t *testing.T) {
	const challengers, cases, worse, cheaper = 20, 150, 0.02, 0.8
	lives := repetitions() / 10
	lost := func(seed uint64, bound bool) (steps int, s Steps) {
		rng := rand.New(rand.NewPCG(seed, 12))
		for range challengers {
			rule := DefaultConfig()
			if bound {
				rule = s.Bound(rule)
			}
			trial := NewTrial(rule)
			for range cases {
				trial.Add(Pair{Quality: -worse + 0.1*rng.NormFloat64(), Cost: -math.Log(cheaper)/math.Log(clip) + 0.05*rng.NormFloat64(), Latency: math.NaN(), Retries: math.NaN(), Bill: Bill{USD: [2]float64{1, cheaper}}})
			}
			if d := trial.Decide(); d.Verdict == Promote {
				steps++
				s.Add(&d)
			}
		}
		return steps, s
	}
	over := map[bool]int{}
	sum := map[bool]int{}
	for life := range lives {
		for _, bound := range []bool{false, true} {
			steps, s := lost(uint64(life), bound)
			sum[bound] += steps
			if float64(steps)*worse > DefaultConfig().Quality.Tolerance {
				over[bound]++
			}
			if bound && s.Quality > DefaultConfig().Quality.Tolerance+1e-9 {
				t.Errorf("life %d: the margins used are %g together", life, s.Quality)
			}
		}
	}
	t.Logf("%d lives: %.2f promotions in one without the bound, beyond 5 points in %.2f; with it %.2f and %.2f", lives,
		float64(sum[false])/float64(lives), float64(over[false])/float64(lives), float64(sum[true])/float64(lives), float64(over[true])/float64(lives))
	if over[false] <= lives/4 {
		t.Errorf("without the bound %d of %d lives lose more than 5 points: the test shows nothing", over[false], lives)
	}
	if over[true] > 0 {
		t.Errorf("%d of %d lives lose more than 5 points", over[true], lives)
	}
}

// TestDearerStepByStep: steps that each stay within ×1.25 stay within ×1.5 together.
func TestDearerStepByStep(t *testing.T) {
	var s Steps
	steps := 0
	rng := rand.New(rand.NewPCG(12, 12))
	for range 20 {
		trial := NewTrial(s.Bound(DefaultConfig()))
		for range 150 {
			q := 0.
			if rng.Float64() < 0.15 {
				q = 1
			}
			d := -math.Log(1.2)/math.Log(clip) + 0.02*rng.NormFloat64()
			trial.Add(Pair{Quality: q, Cost: d, Latency: d, Retries: math.NaN(), Bill: Bill{USD: [2]float64{1, 1.2}}})
		}
		if d := trial.Decide(); d.Verdict == Promote {
			steps++
			if words := s.Beyond(&d); words != "" {
				t.Errorf("step %d: %s", steps, words)
			}
			s.Add(&d)
		}
	}
	if cost := Times(-s.Cost); steps != 2 || cost > 1.5 || cost < 1.25 {
		t.Errorf("%d steps, ×%.2f in all; want 2 within ×1.5", steps, cost)
	}
	if s.Quality != 0 {
		t.Errorf("better quality used %g of the margin", s.Quality)
	}
	// One that began before them has a laxer rule.
	trial := NewTrial(Config{})
	for range 40 {
		trial.Add(Pair{Quality: 1, Cost: -math.Log(1.2) / math.Log(clip), Latency: math.NaN(), Retries: math.NaN(), Bill: Bill{USD: [2]float64{1, 1.2}}})
	}
	if d := trial.Decide(); d.Verdict != Promote || s.Beyond(&d) == "" {
		t.Errorf("%s, and a third step is within the bound", d.Verdict)
	}
}
