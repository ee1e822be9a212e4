package pareto

import (
	"math"
	"math/rand/v2"
	"testing"
)

// night is the rule for a skill's n-th trial among its nights' or an owner's: 1 needs
// e ≥ 50 of quality.
func night(n int, failures float64) Config {
	life := LOND{Alpha: LifetimeAlpha}
	cfg := DefaultConfig().Within(life.Level(n))
	cfg.Failures = failures
	return cfg
}

// TestErrorRatesOfMoreWorlds: texts that are no better where cases, costs, durations and
// retries come in the ways that were thought of.
func TestErrorRatesOfMoreWorlds(t *testing.T) {
	coin := func(rng *rand.Rand) float64 { return float64(2*rng.IntN(2) - 1) }
	usual := intercept(0.7)
	equal := func(rng *rand.Rand) Pair { // three answers an arm, quality alone
		return World{Replays: 3, Noise: -1}.pair(rng, usual, usual, difficulty*rng.NormFloat64())
	}
	pareto := func(rng *rand.Rand, tail float64) float64 { return math.Pow(1-rng.Float64(), -1/tail) }
	// busy is a pair of which both arms were slower or faster by what the machine did.
	busy := func(rng *rand.Rand, first, second float64) Pair {
		p := equal(rng)
		if rng.IntN(2) == 0 {
			first, second = second, first
		}
		noise := func() float64 { return math.Exp(0.3 * rng.NormFloat64()) }
		p.Latency = LogRatio(first*noise(), second*noise())
		return p
	}
	for _, c := range []struct {
		name string
		draw func(rng *rand.Rand) func() Pair
	}{
		{"difficulty of sd 6 logits", func(rng *rand.Rand) func() Pair {
			return func() Pair { return World{Replays: 3}.pair(rng, 0, 0, 6*rng.NormFloat64()) }
		}},
		{"costs and latencies of sd 1.5", World{Failures: 0.3, Replays: 3, Noise: 1.5}.pairs},
		{"costs without a variance", func(rng *rand.Rand) func() Pair {
			return func() Pair {
				p, c := equal(rng), [2]float64{pareto(rng, 1.1), pareto(rng, 1.1)}
				p.Cost, p.Latency, p.Bill.USD = LogRatio(c[0], c[1]), LogRatio(pareto(rng, 1.1), pareto(rng, 1.1)), c
				return p
			}
		}},
		{"a busy machine", func(rng *rand.Rand) func() Pair {
			load := 0.
			step := func() float64 { load = 0.99*load + 0.5*rng.NormFloat64(); return math.Exp(load) }
			return func() Pair { return busy(rng, step(), step()) }
		}},
		{"slower through the night", func(rng *rand.Rand) func() Pair {
			n := 0.
			return func() Pair { n++; return busy(rng, 1+n/100, 1+(n+1)/100) }
		}},
		{"the second answer is cheaper, from the cache", func(rng *rand.Rand) func() Pair {
			return func() Pair {
				p := busy(rng, 1, 0.6)
				p.Cost, p.Bill.USD = p.Latency, [2]float64{1, Times(p.Latency)}
				return p
			}
		}},
		{"coins everywhere", func(rng *rand.Rand) func() Pair {
			return func() Pair {
				cost := coin(rng)
				return Pair{Quality: coin(rng), Latency: coin(rng), Cost: cost, Retries: coin(rng), Bill: Bill{USD: [2]float64{1, Times(cost)}}}
			}
		}},
		{"retries 0 or 1 against 0 or 2, as many", func(rng *rand.Rand) func() Pair {
			return func() Pair {
				old, new := float64(rng.IntN(2)), 0.
				if rng.IntN(4) == 0 {
					new = 2
				}
				return Pair{Quality: 0.05 * rng.NormFloat64(), Latency: nan, Cost: nan, Retries: (old - new) / 2}
			}
		}},
		{"retries 0 or 2 against 0 or 1, as many", func(rng *rand.Rand) func() Pair {
			return func() Pair {
				old, new := 0., float64(rng.IntN(2))
				if rng.IntN(4) == 0 {
					old = 2
				}
				return Pair{Quality: 0.05 * rng.NormFloat64(), Latency: nan, Cost: nan, Retries: (old - new) / 2}
			}
		}},
		{"exactly 5 points worse at half the cost", World{Failures: 0.3, Gain: -0.05, Times: 0.5, Replays: 3}.pairs},
		{"8 points worse at half the cost", World{Failures: 0.3, Gain: -0.08, Times: 0.5, Replays: 3}.pairs},
		{"10 points worse at half the cost", World{Failures: 0.3, Gain: -0.1, Times: 0.5, Replays: 3}.pairs},
		{"a fifth cheaper, but for one answer in twenty, ×30", func(rng *rand.Rand) func() Pair {
			arm := func() (sum float64) {
				for range 3 {
					sum += math.Exp(0.3*rng.NormFloat64()) / 3
				}
				return sum
			}
			return func() Pair {
				p, c := equal(rng), [2]float64{arm(), 0.8 * arm()}
				for range 3 {
					if rng.IntN(20) == 0 {
						c[1] += 0.8 * 29. / 3
					}
				}
				p.Cost, p.Bill.USD = LogRatio(c[0], c[1]), c
				return p
			}
		}},
	} {
		lives := fewer(8)
		got, ways := trials(c.draw(rand.New(rand.NewPCG(21, 0))), night(1, 0.3), 1000, lives)
		t.Logf("%s: %.4f of %d, %v", c.name, got[Promote], lives, ways)
		if got[Promote] > 0.05+sampling(0.05, lives) {
			t.Errorf("%s: promoted %.4f, want at most 0.05", c.name, got[Promote])
		}
	}
}

// TestFiftyChallengers: a skill whose nights try fifty texts one after the other, each until
// it is decided or 200 cases are used, at the level that is left for it. None is better; of
// the second kind each is 6 points worse, beyond the margin, and much cheaper.
func TestFiftyChallengers(t *testing.T) {
	const challengers, cases = 50, 200
	lives := fewer(40)
	for _, w := range []World{{Failures: 0.3, Replays: 3}, {Failures: 0.3, Gain: -0.06, Times: 0.6, Replays: 3}} {
		draw := w.pairs(rand.New(rand.NewPCG(22, 0)))
		promoted := 0
		for range lives {
			for n := 1; n <= challengers; n++ {
				if got, _ := trials(draw, night(n, w.Failures), cases, 1); got[Promote] > 0 {
					promoted++
					break
				}
			}
		}
		share := float64(promoted) / float64(lives)
		t.Logf("fifty of %s: any promoted in %.4f of %d lives", w, share, lives)
		if share > 0.05+sampling(0.05, lives) {
			t.Errorf("fifty of %s: any promoted in %.4f of lives", w, share)
		}
	}
}

// TestOwnerEdits: every two weeks, after 15 uses, the owner edits the skill. A trial is of a
// change: both texts have the edit, so both fail more or less often from then on, and the
// change makes no difference to either. The last owner edits when the evidence falls instead.
func TestOwnerEdits(t *testing.T) {
	for name, edits := range map[string]func(n int, before, now float64) bool{
		"every two weeks":         func(n int, _, _ float64) bool { return n%15 == 0 },
		"when the evidence falls": func(_ int, before, now float64) bool { return now < before },
	} {
		for _, gain := range []float64{0, -0.05} {
			rng := rand.New(rand.NewPCG(23, 0))
			promoted, lives := 0, fewer(8)
			for range lives {
				trial, draw, before := NewTrial(night(1, 0.3)), (func() Pair)(nil), 1.
				for n := 0; n < 300 && trial.Verdict().IsOpen(); n++ {
					now, _ := trial.Now()
					if draw == nil || edits(n, before, now) {
						draw = World{Failures: 0.1 + 0.5*rng.Float64(), Gain: gain, Replays: 3}.pairs(rng)
					}
					before = now
					trial.Add(draw())
				}
				if trial.Verdict() == Promote {
					promoted++
				}
			}
			share := float64(promoted) / float64(lives)
			t.Logf("edits %s, %+.0f points: promoted %.4f of %d", name, 100*gain, share, lives)
			if share > 0.05+sampling(0.05, lives) {
				t.Errorf("edits %s, %+.0f points: promoted %.4f", name, 100*gain, share)
			}
		}
	}
}
