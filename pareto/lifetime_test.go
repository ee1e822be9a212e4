package pareto

import (
	"math/rand/v2"
	"testing"
)

// TestAYearOfNullMutators: every night a challenger that is no better at all has
// its trial on thirty fresh cases, at the level that the lifetime control leaves
// it. Expected false promotions of a whole year must stay within 0.05; without
// the control a year collects several.
func TestAYearOfNullMutators(t *testing.T) {
	const nights, cases = 365, 30
	years := repetitions() / 20
	draw := World{Failures: 0.3, Replays: 1, Noise: -1}.pairs(rand.New(rand.NewPCG(7, 0)))
	controlled, free := 0, 0
	for range years {
		life := LOND{Alpha: 0.05}
		for night := 1; night <= nights; night++ {
			level := life.Level(night)
			strict, plain := NewTrial(DefaultConfig().Within(level)), NewTrial(Config{})
			for range cases {
				p := draw()
				strict.Add(p)
				plain.Add(p)
			}
			if strict.Verdict() == Promote {
				controlled++
				life.Rejected = append(life.Rejected, night)
			}
			if plain.Verdict() == Promote {
				free++
			}
		}
	}
	perYear := float64(controlled) / float64(years)
	t.Logf("false promotions a year over %d years: %.3f with the lifetime control, %.2f without", years, perYear, float64(free)/float64(years))
	if perYear > 0.05+2*0.05 { // two standard errors of a mean over twenty years
		t.Errorf("%.3f false promotions a year, want at most 0.05", perYear)
	}
	if free <= controlled {
		t.Errorf("without the control there were %d, with it %d: the test shows nothing", free, controlled)
	}
}
