package pareto

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// An arm pair of the simulations: one trial a case, passes independent of each
// other, first attempts only, so that the retries saved are the passes gained.
type world struct {
	old, new  float64 // pass rates
	differ    float64 // if set: the arms differ in this share of cases only, either way
	costRatio float64 // challenger's true cost over the incumbent's; 0: cost and latency not measured
}

const noise = 0.3 // standard deviation of the log ratio of cost and of latency

func (w world) pair(rng *rand.Rand) Pair {
	var q float64
	if w.differ > 0 {
		if u := rng.Float64(); u < w.differ/2 {
			q = 1
		} else if u < w.differ {
			q = -1
		}
	} else {
		if rng.Float64() < w.new {
			q++
		}
		if rng.Float64() < w.old {
			q--
		}
	}
	p := Pair{Quality: q, Latency: math.NaN(), Cost: math.NaN(), Retries: q}
	if w.costRatio > 0 {
		p.Latency = LogRatio(1, math.Exp(noise*rng.NormFloat64()))
		p.Cost = LogRatio(1, w.costRatio*math.Exp(noise*rng.NormFloat64()))
	}
	return p
}

// trials runs reps trials of at most cases pairs, looking after each, and
// returns the shares of the verdicts.
func trials(w world, cases, reps int, seed uint64) map[Verdict]float64 {
	share := map[Verdict]float64{}
	rng := rand.New(rand.NewPCG(seed, 0))
	for range reps {
		t := NewTrial(Config{})
		for t.Cases() < cases && t.verdict == Undecided {
			t.Add(w.pair(rng))
		}
		share[t.verdict] += 1 / float64(reps)
	}
	return share
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
func slack(share float64) float64 {
	n := repetitions()
	if n >= 2000 {
		return 0
	}
	return 2 * math.Sqrt(share*(1-share)/float64(n))
}

// TestErrorRates is what the owner of a skill is promised: a challenger that is
// no better, or worse, is hardly ever promoted, however long one looks.
func TestErrorRates(t *testing.T) {
	for _, c := range []struct {
		world
		cases int
		most  float64
	}{
		{world{old: 0.7, new: 0.7, costRatio: 1}, 1000, 0.05},
		{world{old: 0.7, new: 0.7}, 1000, 0.05},
		{world{old: 0.7, new: 0.6, costRatio: 1}, 1000, 0.005},
		{world{old: 0.7, new: 0.6}, 1000, 0.005},
		{world{differ: 0.04, costRatio: 1}, 1000, 0.05},
	} {
		got := trials(c.world, c.cases, repetitions(), 1)
		t.Logf("%s by %d: %v", c.world, c.cases, got)
		if most := c.most + slack(c.most); got[Promote] > most {
			t.Errorf("%s by %d cases: promoted %.4f, want at most %.4f", c.world, c.cases, got[Promote], most)
		}
	}
}

// TestPower is what a decision costs: how many cases it takes to prove a gain.
func TestPower(t *testing.T) {
	for _, c := range []struct {
		world
		cases int
		least float64
	}{
		{world{old: 0.55, new: 0.85, costRatio: 1}, 80, 0.90},
		{world{old: 0.55, new: 0.85}, 80, 0.90},
		{world{old: 0.60, new: 0.80, costRatio: 1}, 120, 0.75},
		{world{old: 0.60, new: 0.80}, 120, 0.75},
		{world{old: 0.70, new: 0.80, costRatio: 1}, 400, 0.70},
		{world{old: 0.70, new: 0.80}, 400, 0.70},
		{world{old: 0.30, new: 0.95}, 12, 0.70},
		{world{differ: 0.04, costRatio: 0.7}, 200, 0.70},
	} {
		got := trials(c.world, c.cases, repetitions(), 2)
		t.Logf("%s by %d: %v", c.world, c.cases, got)
		if least := c.least - slack(c.least); got[Promote] < least {
			t.Errorf("%s by %d cases: promoted %.3f, want at least %.3f", c.world, c.cases, got[Promote], least)
		}
	}
}

func (w world) String() string {
	s := fmt.Sprintf("%.2f→%.2f", w.old, w.new)
	if w.differ > 0 {
		s = fmt.Sprintf("%.0f%% differ", 100*w.differ)
	}
	if w.costRatio > 0 {
		s += fmt.Sprintf(" cost ×%g", w.costRatio)
	}
	return s
}

// With cost or latency measured, no challenger can be promoted on very few
// cases: even without any noise, an unchanged cost needs 23 pairs to show that
// it is not 1.25 times as high. This is what limits 0.30→0.95, not quality.
func TestToleranceTakesCases(t *testing.T) {
	trial := NewTrial(Config{})
	for trial.Verdict() == Undecided && trial.Cases() < 100 {
		trial.Add(Pair{Quality: 1, Latency: math.NaN(), Cost: 0, Retries: 1})
	}
	if d := trial.Decide(); d.Verdict != Promote || d.Cases != 23 {
		t.Errorf("%v after %d cases, want promote after 23", d.Verdict, d.Cases)
	}
}
