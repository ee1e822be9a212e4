package pareto

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A person uses a skill, corrects what fails, and has nights search and try. What a
// search finds is a model, not evolve's: each of six candidates has all of the gain
// with a chance of .5·(1−e^(−train/8)), or nothing; validation picks the best.
type person struct {
	failures, gain float64
	perWeek        float64
	backlog        int        // uses before the first night
	replayable     [2]float64 // of corrected uses, and of others
	silent         float64    // share of good uses about which nothing is said
}

const (
	trainFirst = 12
	valFirst   = 6
)

// weeks is how long it takes until a text with the gain is proved at the level of its
// trial among all, and how long until the first such text is promising; 157 for never.
func (p person) weeks(rng *rand.Rand, level func(trial int) float64) (proved, promising int, wrong bool) {
	const years = 156
	promising = years + 1
	var strata Strata
	train, val, number, spent := 0, 0, 0, 0
	var trial *Trial
	real := false
	base := intercept(1 - p.failures)
	base2 := map[bool]float64{false: base, true: intercept(1 - p.failures + p.gain)}
	draw := World{Failures: p.failures, Gain: p.gain, Replays: 3}
	null := World{Failures: p.failures, Replays: 3}
	for week := 0; week <= years; week++ {
		uses := p.backlog
		if week > 0 {
			uses = poisson(rng, p.perWeek)
		}
		for range uses {
			stratum, again := "silent", p.replayable[1]
			z := difficulty * rng.NormFloat64()
			failed := rng.Float64() >= 1/(1+math.Exp(-base-z))
			switch {
			case failed:
				stratum, again = "corrected", p.replayable[0]
			case rng.Float64() >= p.silent:
				stratum = "accepted"
			}
			w, largest := strata.Weight(stratum)
			strata.Use(stratum)
			if rng.Float64() >= again {
				continue
			}
			if stratum != "silent" && (train < trainFirst || val < valFirst) && trial == nil {
				if val*2 < train {
					val++
				} else {
					train++
				}
				continue
			}
			if trial == nil {
				continue
			}
			strata.Case(stratum)
			if stratum != "silent" {
				spent++
			}
			world := null
			if real {
				world = draw
			}
			pair := world.pair(rng, base, base2[real], z)
			pair.Weight, pair.Largest = w, largest
			trial.Add(pair)
			if real && trial.Verdict() == Promising {
				promising = min(promising, week)
			}
			switch trial.Verdict() {
			case Promote:
				if !real {
					wrong = true
					return years + 1, promising, wrong
				}
				return week, min(promising, week), wrong
			case Reject: // what it was tried on teaches the next search, which waits for as much again
				trial, train, val = nil, spent*2/3, spent/3
			}
		}
		if trial == nil && train >= trainFirst && val >= valFirst {
			number++
			found := false
			for range 6 {
				found = found || rng.Float64() < .5*(1-math.Exp(-float64(train)/8))
			}
			real = found && p.gain > 0
			cfg := DefaultConfig().Within(level(number))
			cfg.Failures = p.failures
			trial, spent = NewTrial(cfg), 0
		}
	}
	return years + 1, promising, wrong
}

func poisson(rng *rand.Rand, mean float64) int {
	n, p, limit := 0, 1.0, math.Exp(-mean)
	for p *= rng.Float64(); p > limit; p *= rng.Float64() {
		n++
	}
	return n
}

// TestWeeks is how long a person waits, by how often a better text spares them a
// correction; and three years of texts that are no better.
func TestWeeks(t *testing.T) {
	reps := repetitions() / 5
	life := LOND{Alpha: LifetimeAlpha}
	for _, c := range []struct {
		gain float64
		most [2]int // weeks in half of lives, where nearly all uses replay, and where two thirds do
	}{{.18, [2]int{14, 18}}, {.12, [2]int{21, 28}}, {.06, [2]int{55, 75}}, {0, [2]int{}}} {
		for i, replay := range [][2]float64{{.9, .9}, {.72, .64}} {
			p := person{failures: .3, gain: c.gain, perWeek: 7.5, backlog: 32, replayable: replay, silent: .5}
			rng := rand.New(rand.NewPCG(8, 0))
			var proved, promising []int
			wrong := 0
			for range reps {
				a, b, w := p.weeks(rng, life.Level)
				if proved, promising = append(proved, a), append(promising, b); w {
					wrong++
				}
			}
			slices.Sort(proved)
			slices.Sort(promising)
			half, most := len(proved)/2, len(proved)*8/10
			t.Logf("%.0f %% replay, corrections .30→%.2f: proved within %d weeks in half of lives, %d in 80 %%; promising within %d, %d; a text that is no better proved in %d of %d",
				100*replay[1], .3-c.gain, proved[half], proved[most], promising[half], promising[most], wrong, reps)
			if c.gain > 0 && proved[half] > c.most[i] {
				t.Errorf("%.0f %% replay, a gain of %g: %d weeks, want at most %d", 100*replay[1], c.gain, proved[half], c.most[i])
			}
			if share := float64(wrong) / float64(reps); share > .05+slack(.05) {
				t.Errorf("%.0f %% replay, a gain of %g: proved in %.3f of lives without being better", 100*replay[1], c.gain, share)
			}
		}
	}
}
