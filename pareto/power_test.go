package pareto

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// trials runs reps trials of at most cases pairs, looking after each, and
// returns the shares of the verdicts and of the ways to them.
func trials(draw func() Pair, cfg Config, cases, reps int) (verdicts map[Verdict]float64, ways map[string]float64) {
	verdicts, ways = map[Verdict]float64{}, map[string]float64{}
	for range reps {
		t := NewTrial(cfg)
		for t.Cases() < cases && t.Verdict().IsOpen() {
			t.Add(draw())
		}
		verdicts[t.Verdict()] += 1 / float64(reps)
		ways[fmt.Sprint(t.Verdict(), " ", t.route)] += 1 / float64(reps)
	}
	return verdicts, ways
}

// repetitions is 400; EVOLVE_LONG=1 asks for 2,000 and for the bounds without
// the sampling error that 400 have.
func repetitions() int {
	if os.Getenv("EVOLVE_LONG") != "" {
		return 2000
	}
	return 400
}

// slack is two standard errors of a share at few repetitions: 0.046 at 0.70.
func slack(share float64) float64 { return sampling(share, repetitions()) }

func sampling(share float64, n int) float64 {
	if n >= 2000 {
		return 0
	}
	return 2 * math.Sqrt(share*(1-share)/float64(n))
}

// fewer are repetitions of what takes long: all of them only if they are asked for.
func fewer(by int) int {
	if n := repetitions(); n < 2000 {
		return n / by
	}
	return 2000
}

// rule is the gate's for a skill that fails so often.
func rule(failures float64) Config {
	cfg := DefaultConfig()
	cfg.Failures = failures
	return cfg
}

func (w World) String() string {
	s := fmt.Sprintf("%.2f→%.2f", 1-w.Failures, 1-w.Failures+w.Gain)
	if w.Times > 0 {
		s += fmt.Sprintf(" at ×%g the cost", w.Times)
	}
	return s
}

// TestErrorRates is what the owner of a skill is promised: a challenger that is
// no better, or worse, is hardly ever promoted, however long one looks.
func TestErrorRates(t *testing.T) {
	for _, c := range []struct {
		World
		most float64
	}{
		{World{Failures: 0.9, Replays: 1}, 0.05},
		{World{Failures: 0.7, Replays: 3}, 0.05},
		{World{Failures: 0.5, Replays: 3}, 0.05},
		{World{Failures: 0.3, Replays: 1, Noise: -1}, 0.05},
		{World{Failures: 0.3, Replays: 3}, 0.05},
		{World{Failures: 0.3, Replays: 5}, 0.05},
		{World{Failures: 0.1, Replays: 3}, 0.05},
		{World{Failures: 0.02, Replays: 3}, 0.05},
		{World{Failures: 0.3, Gain: -0.05, Replays: 3}, 0.05},
		{World{Failures: 0.3, Gain: -0.1, Replays: 3}, 0.005},
		{World{Failures: 0.3, Gain: -0.1, Replays: 1, Noise: -1}, 0.005},
	} {
		got, ways := trials(c.World.pairs(rand.New(rand.NewPCG(1, 0))), rule(c.Failures), 1000, repetitions())
		t.Logf("%s, %d replays, by 1000: %v", c.World, c.Replays, ways)
		if most := c.most + slack(c.most); got[Promote] > most {
			t.Errorf("%s: promoted %.4f, want at most %.4f", c.World, got[Promote], most)
		}
	}
}

// TestErrorRatesOfOtherShapes: differences of no mean, of any shape.
func TestErrorRatesOfOtherShapes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	usual := func(quality float64) Pair {
		c := [2]float64{math.Exp(0.5 * rng.NormFloat64()), math.Exp(0.5 * rng.NormFloat64())}
		return Pair{Quality: quality, Latency: math.NaN(), Cost: LogRatio(c[0], c[1]), Retries: quality / 2, Bill: Bill{USD: c}}
	}
	bump := func(p float64, a, b float64) float64 {
		if rng.Float64() < p {
			return a
		}
		return b
	}
	burst, left := 0.0, 0
	for name, draw := range map[string]func() Pair{
		"graded":      func() Pair { return usual(max(-1, min(1, 0.2*rng.NormFloat64()))) },
		"hardly any":  func() Pair { return usual(max(-1, min(1, 0.02*rng.NormFloat64()))) },
		"few differ":  func() Pair { return usual(bump(0.04, bump(0.5, 1, -1), 0)) },
		"skewed up":   func() Pair { return usual(bump(0.9, 0.1, -0.9)) },
		"skewed down": func() Pair { return usual(bump(0.1, 0.9, -0.1)) },
		"heavy tails": func() Pair {
			p := usual(bump(0.5, 1, -1))
			p.Cost = LogRatio(1, math.Pow(rng.Float64(), -1.6)/1.5)
			return p
		},
		"in bursts of five": func() Pair { // a project on which the text helps or harms, none on average
			if left == 0 {
				burst, left = bump(0.5, 0.4, -0.4), 5
			}
			left--
			return usual(max(-1, min(1, burst*bump(0.5, 2, 0))))
		},
	} {
		got, ways := trials(draw, DefaultConfig(), 1000, repetitions())
		t.Logf("%s: %v", name, ways)
		most := 0.05
		if name == "in bursts of five" {
			// The claim is about the requests that were heard: see TestBursts.
			continue
		}
		if got[Promote] > most+slack(most) {
			t.Errorf("%s: promoted %.4f, want at most %.2f", name, got[Promote], most)
		}
	}
}

// TestBursts: pairs come in projects on which a text helps or harms, and what is
// bounded is that a promotion is about requests on which it did not help on
// average.
func TestBursts(t *testing.T) {
	for _, size := range []int{5, 20} {
		rng := rand.New(rand.NewPCG(4, 0))
		wrong := 0
		for range repetitions() {
			trial, sum, burst := NewTrial(DefaultConfig()), 0.0, 0.0
			for n := 0; n < 300 && trial.Verdict().IsOpen(); n++ {
				if n%size == 0 {
					burst = 0.4
					if rng.IntN(2) == 0 {
						burst = -0.4
					}
				}
				d := -1.0
				if rng.Float64() < (1+burst)/2 {
					d = 1
				}
				sum += burst
				trial.Add(Pair{Quality: d, Latency: math.NaN(), Cost: math.NaN(), Retries: d / 2})
			}
			if trial.Verdict() == Promote && sum <= 0 {
				wrong++
			}
		}
		share := float64(wrong) / float64(repetitions())
		t.Logf("projects of %d cases: promoted %.4f without an average effect on what was heard", size, share)
		if share > 0.04+slack(0.04) {
			t.Errorf("projects of %d: %.4f", size, share)
		}
	}
}

// TestPower is what a decision costs, with three replays an arm, at the level of a skill's
// first night (e ≥ 50): how many cases it takes to prove a gain.
func TestPower(t *testing.T) {
	for _, c := range []struct {
		old, new float64
		cases    int
		least    float64
	}{
		{0.55, 0.85, 38, 0.90},
		{0.60, 0.80, 55, 0.80},
		{0.30, 0.95, 14, 0.80},
		{0.70, 0.88, 60, 0.80},
		{0.70, 0.82, 125, 0.80},
	} {
		w := World{Failures: 1 - c.old, Gain: c.new - c.old, Replays: 3}
		got, ways := trials(w.pairs(rand.New(rand.NewPCG(2, 0))), night(1, w.Failures), c.cases, repetitions())
		alone, _ := trials(w.pairs(rand.New(rand.NewPCG(2, 0))), rule(w.Failures), c.cases, repetitions())
		t.Logf("%s by %d: %v; as a single trial %.4f", w, c.cases, ways, alone[Promote])
		if got[Promote] < c.least-slack(c.least) {
			t.Errorf("%s by %d cases: promoted %.3f, want at least %.3f", w, c.cases, got[Promote], c.least)
		}
	}
}

// TestGuards: a large gain does not hide that it costs more.
func TestGuards(t *testing.T) {
	for _, c := range []struct{ times, most float64 }{{1.25, 1}, {1.5, 0.05}, {2, 0.005}} {
		w := World{Failures: 0.5, Gain: 0.3, Replays: 3, Times: c.times}
		got, ways := trials(w.pairs(rand.New(rand.NewPCG(5, 0))), rule(0.5), 300, repetitions())
		first, _ := trials(w.pairs(rand.New(rand.NewPCG(5, 0))), night(1, 0.5), 300, repetitions())
		t.Logf("%s: %v; at e ≥ 50 %.4f", w, ways, first[Promote])
		if got[Promote] > c.most+slack(c.most) {
			t.Errorf("%s: promoted %.4f, want at most %g", w, got[Promote], c.most)
		}
	}
}

// A life is of uses that fail or not, of which not all can be asked again.
type life struct {
	failures   float64 // of the incumbent, when it begins
	drift      float64 // and how much less at each use
	gain       float64
	corrected  float64    // share of failures that the user corrects
	accepted   float64    // share of successes that the user acknowledges
	replayable [2]float64 // share of corrected uses, and of others, that can be asked again
	lasting    float64    // how far a text that failed on a request fails again: 1 is always
	changes    int        // after so many uses others can be asked again; 0: never
	after      [2]float64 // as replayable
}

// draw returns the next pair of a life: cases are made of uses as they come,
// weighted by their strata. After 1,000 uses its pairs have no value.
func (l life) draw(rng *rand.Rand) func() Pair {
	var uses []Use
	heard := map[int]bool{} // of uses
	rate := l.failures
	own := func(fails float64) float64 { // how often a text fails on this request
		if rng.Float64() >= l.lasting {
			return fails
		}
		if rng.Float64() < fails {
			return 1
		}
		return 0
	}
	passes := func(own float64) float64 { // the mean of three replays
		sum := 0.0
		for range 3 {
			if rng.Float64() >= own {
				sum++
			}
		}
		return sum / 3
	}
	return func() Pair {
		for len(uses) < 1000 {
			if l.changes > 0 && len(uses) == l.changes {
				l.replayable = l.after
			}
			rate = max(0.05, rate-l.drift)
			old := own(rate)
			failed := rng.Float64() < old
			stratum, again := "silent", l.replayable[1]
			switch {
			case failed && rng.Float64() < l.corrected:
				stratum, again = "corrected", l.replayable[0]
			case !failed && rng.Float64() < l.accepted:
				stratum = "accepted"
			}
			var strata Strata
			for i := max(0, len(uses)-Window); i < len(uses); i++ {
				strata.Use(uses[i].Stratum)
				if heard[i] {
					strata.Case(uses[i].Stratum)
				}
			}
			w, largest := strata.Weight(stratum)
			gone := Gone(uses, stratum)
			uses = append(uses, Use{stratum, rng.Float64() < again})
			if !uses[len(uses)-1].Replays || gone != "" {
				continue
			}
			heard[len(uses)-1] = true
			d := passes(own(max(0, rate-l.gain))) - passes(old)
			return Pair{Quality: d, Latency: math.NaN(), Cost: math.NaN(), Retries: d / 2, Weight: w, Largest: largest}
		}
		return Pair{Quality: math.NaN(), Latency: math.NaN(), Cost: math.NaN(), Retries: math.NaN()}
	}
}

// TestLives: cases are made of uses of which corrections are replayed more
// often, or less, than others; the incumbent is not tried on its own failures.
func TestLives(t *testing.T) {
	for name, l := range map[string]life{
		"half acknowledged":          {failures: 0.3, corrected: 0.9, accepted: 0.5, replayable: [2]float64{0.9, 0.9}, lasting: 0.8},
		"a quarter acknowledged":     {failures: 0.3, corrected: 0.9, accepted: 0.25, replayable: [2]float64{0.9, 0.9}, lasting: 0.8},
		"corrections replay more":    {failures: 0.3, corrected: 0.9, accepted: 0.5, replayable: [2]float64{0.9, 0.4}, lasting: 0.8},
		"corrections replay less":    {failures: 0.3, corrected: 0.9, accepted: 0.5, replayable: [2]float64{0.3, 0.9}, lasting: 0.8},
		"much more":                  {failures: 0.3, corrected: 0.9, accepted: 0.25, replayable: [2]float64{0.95, 0.2}, lasting: 0.9},
		"the rate of failures falls": {failures: 0.5, drift: 0.001, corrected: 0.9, accepted: 0.5, replayable: [2]float64{0.9, 0.4}, lasting: 0.8},
		"others cannot after 20":     {failures: 0.3, corrected: 0.9, accepted: 0.5, replayable: [2]float64{0.9, 0.9}, lasting: 0.8, changes: 20, after: [2]float64{0.9, 0}},
		"others cannot after 60":     {failures: 0.3, corrected: 0.9, accepted: 0.5, replayable: [2]float64{0.9, 0.9}, lasting: 0.8, changes: 60, after: [2]float64{0.9, 0}},
		"others hardly after 60":     {failures: 0.3, corrected: 0.9, accepted: 0.5, replayable: [2]float64{0.9, 0.9}, lasting: 0.8, changes: 60, after: [2]float64{0.9, 0.1}},
		"others only after 60":       {failures: 0.3, corrected: 0.9, accepted: 0.5, replayable: [2]float64{0.9, 0.1}, lasting: 0.8, changes: 60, after: [2]float64{0.9, 0.9}},
		"and always the same fail":   {failures: 0.3, corrected: 0.9, accepted: 0.5, replayable: [2]float64{0.9, 0.4}, lasting: 1},
	} {
		for _, gain := range []float64{0, -0.1, 0.2} {
			l.gain = gain
			verdicts := map[Verdict]float64{}
			rng := rand.New(rand.NewPCG(6, 0))
			for range repetitions() {
				got, _ := trials(l.draw(rng), rule(l.failures), 300, 1)
				for v := range got {
					verdicts[v] += 1 / float64(repetitions())
				}
			}
			t.Logf("%s, %+.0f points: %v", name, 100*gain, verdicts)
			if most := map[float64]float64{0: 0.05, -0.1: 0.01, 0.2: 1}[gain]; verdicts[Promote] > most+slack(most) {
				t.Errorf("%s, %+.0f points: promoted %.4f, want at most %g", name, 100*gain, verdicts[Promote], most)
			}
			if gain > 0 && l.changes == 0 && verdicts[Promote] < 0.5 { // else nobody may be able to tell
				t.Errorf("%s, %+.0f points: promoted %.4f", name, 100*gain, verdicts[Promote])
			}
		}
	}
}
