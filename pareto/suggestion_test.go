package pareto

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSuggestionOnWhatItHasRead: a text that is worse in 3.5 of 100 uses, and repairs the uses
// whose corrections it was written from, would be proved on these, because of corrections all
// are read. So a suggestion is tried on later uses alone; there it is held to the level.
func TestSuggestionOnWhatItHasRead(t *testing.T) {
	const repaired, level = 0.95, 0.05 // of the answers to what it has read; of all routes together
	p := person{failures: 0.3, gain: -0.035, replayable: [2]float64{0.8, 0.8}, silent: 0.5, replays: 3}
	lives := repetitions()
	proved := map[bool]int{}
	for life := range lives {
		for _, own := range []bool{true, false} {
			l := &lived{rng: rand.New(rand.NewPCG(uint64(life), 21)), base: map[float64]float64{0: intercept(1 - p.failures), p.gain: intercept(1 - p.failures + p.gain)}}
			for range 200 { // what is known when it is made
				p.uses(l, nil, 0)
			}
			c := &contest{Trial: NewTrial(rule(p.failures)), gain: p.gain, strata: map[float64]*Strata{}, since: -1}
			if !own {
				l.heldOut = nil
				for range 400 {
					p.uses(l, c, 1)
				}
			}
			for _, at := range l.heldOut {
				if !c.Verdict().IsOpen() {
					break
				}
				if c.since < 0 && l.use[at].stratum == "silent" {
					continue // as record.State.AfterSearch
				}
				with := l.base[p.gain]
				if own && l.use[at].stratum == "corrected" {
					with = math.Log(repaired/(1-repaired)) - l.use[at].hard
				}
				p.add(l, c, at, World{Replays: p.replays}, with)
			}
			if c.Verdict() == Promote {
				proved[own]++
			}
		}
	}
	share := func(own bool) float64 { return float64(proved[own]) / float64(lives) }
	t.Logf("%d lives: proved on what it has read in %.3f, on later uses in %.3f", lives, share(true), share(false))
	if share(true) < 0.2 {
		t.Errorf("what it has read proves it in %.3f: the test shows nothing", share(true))
	}
	if share(false) > level+sampling(level, lives) {
		t.Errorf("later uses prove it in %.3f", share(false))
	}
}
