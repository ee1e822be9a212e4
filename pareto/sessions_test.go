package pareto

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/splits"
)

// TestSixtySessions: a first run on the 60 sessions that there are, of which 30 % were
// corrected and half of the others acknowledged. The splits are evolve's; the search finds a
// text with that gain, and the trial hears what is held out.
func TestSixtySessions(t *testing.T) {
	for _, c := range []struct {
		gain, replay float64
		least        float64 // at least promising in the end
	}{{0.18, 0.9, 0}, {0.20, 0.9, 0.85}, {0.24, 0.9, 0.85}, {0.24, 0.7, 0}} {
		rng := rand.New(rand.NewPCG(25, 0))
		lives := fewer(4)
		base, better := intercept(0.7), intercept(0.7+c.gain)
		come := map[Verdict]float64{}
		pairs := 0
		for range lives {
			var cases []eval.Case
			var uses []string
			hard := map[string]float64{}
			at := map[string]int{}
			for n := range 60 {
				z := difficulty * rng.NormFloat64()
				stratum := "silent"
				switch {
				case rng.Float64() >= 1/(1+math.Exp(-base-z)):
					stratum = "corrected"
				case rng.IntN(2) == 0:
					stratum = "accepted"
				}
				uses = append(uses, stratum)
				if rng.Float64() >= c.replay {
					continue
				}
				id := fmt.Sprint(n)
				hard[id], at[id] = z, n
				cases = append(cases, eval.Case{ID: id, Skill: "s", Source: &eval.Source{Origin: "mined", Stratum: stratum, Outcome: stratum, Time: time.Unix(int64(n)*86400, 0)}})
			}
			splits.Assign(cases)
			trial, w := NewTrial(night(1, 0.3)), World{Replays: 3}
			var strata Strata
			since := -1
			for i := range cases {
				k := &cases[i]
				if k.Split != eval.Test || since < 0 && k.Source.Stratum == eval.Silent {
					continue // as record.State.AfterSearch
				}
				if since < 0 {
					since = at[k.ID]
				}
				for ; since < at[k.ID]; since++ {
					strata.Use(uses[since])
				}
				pairs++
				p := w.pair(rng, base, better, hard[k.ID])
				p.Weight, p.Largest = strata.Weight(k.Source.Stratum)
				strata.Case(k.Source.Stratum)
				trial.Add(p)
			}
			come[trial.Verdict()] += 1 / float64(lives)
		}
		share := come[Promising] + come[Promote]
		t.Logf(".30→%.2f, %.0f %% replay: %.1f pairs; at least promising in %.3f of %d, %v", 0.3-c.gain, 100*c.replay, float64(pairs)/float64(lives), share, lives, come)
		if share < c.least-sampling(c.least, lives) {
			t.Errorf(".30→%.2f: at least promising in %.3f, want %.2f", 0.3-c.gain, share, c.least)
		}
	}
}
