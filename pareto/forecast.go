package pareto

import (
	"math"
	"math/rand/v2"
	"slices"
)

// ForecastCap is the largest number of cases that Forecast considers.
const ForecastCap = 2000

// A World is what a trial may find: how often the incumbent fails, what the
// challenger gains, and how much chance there is in it.
type World struct {
	Failures float64 // share of uses in which the incumbent fails
	Gain     float64 // of the challenger, in quality: -0.1 is ten points worse
	// Replays is how often each arm answers a case; 0 is 1.
	Replays int
	// Noise is the standard deviation of the log of a cost or a duration from
	// run to run of one case; 0 is 0.5, negative that neither is measured.
	Noise float64
	// Times is the challenger's true cost over the incumbent's; 0 is 1.
	Times float64
}

// usualNoise is of the runs of agents that use tools.
const usualNoise = 0.5

// difficulty is the standard deviation, in logits, of how hard cases are, for
// both arms alike.
const difficulty = 1.5

// forecastTrials is how many trials Forecast simulates: a quantile is
// accurate to about 7 %.
const forecastTrials = 200

// Forecast returns within how many cases a challenger is promoted in a world:
// cases50 in half of all trials, cases80 in 80 %. 0 means that more than
// ForecastCap would be needed, or that the trial is dropped before, as for any
// challenger that is not better. It simulates trials under the rule cfg with a
// fixed seed, and takes up to a tenth of a second.
func Forecast(w World, cfg Config) (cases50, cases80 int) {
	if cfg == (Config{}) {
		cfg = DefaultConfig()
	}
	if !(w.Gain > 0) {
		return 0, 0
	}
	cfg.Failures, cfg.Rest = w.Failures, Limit{}
	rng := rand.New(rand.NewPCG(2026, 1))
	draw := w.pairs(rng)
	ends := make([]int, forecastTrials)
	for i := range ends {
		t := NewTrial(cfg)
		for t.verdict == Undecided && len(t.pairs) < ForecastCap {
			t.Add(draw())
		}
		if ends[i] = len(t.pairs); t.verdict != Promote {
			ends[i] = ForecastCap + 1
		}
	}
	slices.Sort(ends)
	at := func(share float64) int {
		if n := ends[int(math.Ceil(share*forecastTrials))-1]; n <= ForecastCap {
			return n
		}
		return 0
	}
	return at(0.5), at(0.8)
}

// ForecastRest returns within how many pairs of the rest four of five challengers that gain in
// the world about, and make no difference in the world elsewhere, are promoted by the rule of
// cfg, once they have won where they apply; 0: more than ForecastCap, or none wins there. It
// simulates as Forecast does.
func ForecastRest(about, elsewhere World, cfg Config) int {
	if cfg.Rest == (Limit{}) || !(about.Gain > 0) {
		return 0
	}
	cfg.Failures, elsewhere.Gain = about.Failures, 0
	rng := rand.New(rand.NewPCG(2026, 2))
	draw, other := about.pairs(rng), elsewhere.pairs(rng)
	var ends []int
	for range forecastTrials {
		t := NewTrial(cfg)
		for t.verdict == Undecided && len(t.pairs) < ForecastCap && t.RestCases() < ForecastCap {
			if t.WantsRest() {
				t.AddRest(other())
			} else {
				t.Add(draw())
			}
		}
		switch {
		case t.verdict == Promote:
			ends = append(ends, t.RestCases())
		case t.won() != "":
			ends = append(ends, ForecastCap+1)
		}
	}
	if len(ends) == 0 {
		return 0
	}
	slices.Sort(ends)
	if n := ends[int(math.Ceil(0.8*float64(len(ends))))-1]; n <= ForecastCap {
		return n
	}
	return 0
}

// pairs draws pairs of this world.
func (w World) pairs(rng *rand.Rand) func() Pair {
	old, new := intercept(1-w.Failures), intercept(1-w.Failures+w.Gain)
	return func() Pair { return w.pair(rng, old, new, difficulty*rng.NormFloat64()) }
}

// pair is that of a case which is harder or easier by so many logits, between arms of
// those logits.
func (w World) pair(rng *rand.Rand, old, new, harder float64) Pair {
	k := max(1, w.Replays)
	noise, times := w.Noise, w.Times
	if noise == 0 {
		noise = usualNoise
	}
	if times == 0 {
		times = 1
	}
	arm := func(logit float64) (passes, cost, latency float64) {
		p := 1 / (1 + math.Exp(-logit))
		for range k {
			if rng.Float64() < p {
				passes++
			}
			if noise > 0 {
				cost += math.Exp(noise * rng.NormFloat64())
				latency += math.Exp(noise * rng.NormFloat64())
			}
		}
		return passes / float64(k), cost / float64(k), latency / float64(k)
	}
	q0, c0, l0 := arm(old + harder)
	q1, c1, l1 := arm(new + harder)
	c1 *= times
	return Pair{Quality: q1 - q0, Retries: (q1 - q0) / 2, Latency: LogRatio(l0, l1), Cost: LogRatio(c0, c1), Bill: Bill{USD: [2]float64{c0, c1}}}
}

// intercept is the logit at which cases of usual difficulty pass so that the
// share of all cases that pass is rate.
func intercept(rate float64) float64 {
	rate = max(0.001, min(0.999, rate))
	lo, hi := -20.0, 20.0
	for range 50 {
		mid := (lo + hi) / 2
		sum, weights := 0.0, 0.0
		for z := -4.0; z <= 4; z += 0.1 {
			w := math.Exp(-z * z / 2)
			sum, weights = sum+w/(1+math.Exp(-mid-difficulty*z)), weights+w
		}
		if sum/weights < rate {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// A race is a Process reduced to whether it has crossed.
type race struct {
	bets    []float64
	capital []float64
	goal    float64 // of the sum of capitals
	won     bool
}

func newRace(alpha float64, bets []float64) *race {
	return &race{bets: bets, capital: slices.Repeat([]float64{1}, len(bets)), goal: float64(len(bets)) / alpha}
}

func (r *race) add(d float64) {
	if r.won || d == 0 {
		return
	}
	sum := 0.0
	for i, lambda := range r.bets {
		r.capital[i] *= 1 + lambda*d
		sum += r.capital[i]
	}
	r.won = sum >= r.goal
}
