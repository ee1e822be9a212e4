package record

import (
	"math/rand/v2"
	"testing"

	"github.com/skill-evolve/evolve/pareto"
)

// A seer is a judge that sees a difference, in both orders, with chance sees, takes it for
// the opposite with chance wrong, and else sees none.
type seer struct{ sees, wrong float64 }

func (s seer) score(rng *rand.Rand, truth float64) float64 {
	switch u := rng.Float64(); {
	case truth == 0 || u >= s.sees+s.wrong:
		return 0
	case u < s.sees:
		return truth
	}
	return -truth
}

// calibrated is the record of a judge after so many reviews.
func (s seer) calibrated(rng *rand.Rand, reviews int) (c Calibration) {
	var said []Said
	for range reviews {
		first := rng.IntN(2) == 0
		truth := -1.
		if first {
			truth = 1
		}
		said = append(said, Said{first, s.score(rng, truth)})
	}
	c.Count(said)
	return c
}

// life runs a trial of a text that fails as often as the incumbent, but elsewhere: on
// three uses of ten either fails, for good. Where the incumbent failed the use was
// corrected, and a check sees that mistake for certain; elsewhere the judge compares.
// inPlace: it is the challenger that is in place, on trial, and whose mistakes are corrected.
func (s seer) life(rng *rand.Rand, reviews, cases int, inPlace bool, weigh func(Calibration) float64) (trusted, proved bool) {
	c := s.calibrated(rng, reviews)
	if !c.Trusted() {
		return false, false
	}
	l := weigh(c)
	t := pareto.NewTrial(pareto.DefaultConfig())
	for range cases {
		old, new := rng.Float64() < 0.3, rng.Float64() < 0.3
		var d float64
		switch {
		case old && !new && inPlace:
			d = s.score(rng, 1)
		case old && !new:
			d = l
		case !old && new && inPlace:
			d = -l
		case !old && new:
			d = s.score(rng, -1)
		}
		if t.Add(pareto.Pair{Quality: d}); !t.Verdict().IsOpen() {
			return true, t.Verdict() == pareto.Promote
		}
	}
	return true, false
}

// TestSensitivityMakesEqualEyes: a text that is no better, and fails where only the judge
// could see it, is proved in at most 5 % of lives; without that weight in more.
func TestSensitivityMakesEqualEyes(t *testing.T) {
	const lives = 2000
	rng := rand.New(rand.NewPCG(3, 19))
	for _, w := range []struct {
		judge   seer
		reviews int
	}{{seer{0.95, 0}, 20}, {seer{0.9, 0}, 20}, {seer{0.8, 0}, 40}, {seer{0.7, 0}, 60}, {seer{0.6, 0}, 60}, {seer{0.9, 0.1}, 20}, {seer{0.85, 0.15}, 40}} {
		share := func(inPlace bool, weigh func(Calibration) float64) (proved, trusted float64) {
			p, n := 0, 0
			for range lives {
				heard, won := w.judge.life(rng, w.reviews, 300, inPlace, weigh)
				if heard {
					n++
				}
				if won {
					p++
				}
			}
			return float64(p) / float64(lives), float64(n) / float64(lives)
		}
		full := func(Calibration) float64 { return 1 }
		with, trusted := share(false, Calibration.Sensitivity)
		without, _ := share(false, full)
		there, _ := share(true, full)
		shrunk, _ := share(true, Calibration.Sensitivity)
		t.Logf("in place on trial: proved %.3f; %.3f if its corrections counted by the judge's sensitivity", there, shrunk)
		if there > 0.05*trusted {
			t.Errorf("%+v: in place on trial, proved in %.3f of lives, where a judge is trusted in %.3f", w.judge, there, trusted)
		}
		t.Logf("sees %.2f, wrong %.2f, %d reviews: trusted in %.3f of lives, proved %.3f; without the weight %.3f", w.judge.sees, w.judge.wrong, w.reviews, trusted, with, without)
		if with > 0.05*trusted {
			t.Errorf("%+v: proved in %.3f of lives, where a judge is trusted in %.3f", w.judge, with, trusted)
		}
	}
}

// TestEqualEyes: a check counts by the judge's sensitivity, but for uses of a text that was
// in place on trial; also of a pair that waited.
func TestEqualEyes(t *testing.T) {
	judge := seer{0.9, 0}.calibrated(rand.New(rand.NewPCG(1, 1)), 20)
	if !judge.Trusted() || judge.Sensitivity() > 0.95 {
		t.Fatalf("%+v", judge)
	}
	for text, want := range map[string]float64{"": judge.Sensitivity(), "tried": 1} {
		st := &State{Trial: pareto.NewTrial(pareto.DefaultConfig()), Texts: map[string]string{"session": text}}
		st.Waiting = []WaitingPair{{Cluster: "session", Pair: pareto.Pair{Quality: 1}, Checked: 1}}
		st.Hear(judge)
		if pairs := st.Trial.Pairs(); len(pairs) != 1 || pairs[0].Quality != want {
			t.Errorf("in place %q: %+v, want %g", text, pairs, want)
		}
	}
}
