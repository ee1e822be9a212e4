package search

import (
	"testing"

	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
)

// TestWinnersCurse: the validation score that a search reports for its winner is
// the best of many noisy ones, and must not exceed the truth for it. The bound
// is 0.01 on average at 15 % noise, over enough seeds: one seed's score has a
// standard error of 0.04, so sixteen can only be held to 0.03.
func TestWinnersCurse(t *testing.T) {
	if testing.Short() {
		t.Skip("many searches; the race detector sees each kind of goroutine elsewhere")
	}
	seeds, most, budgets := int64(16), 0.03, []int64{600}
	if long() {
		seeds, most, budgets = 100, 0.01, []int64{300, 600, 1200}
	}
	for _, n := range budgets {
		bias := 0.0
		for seed := range seeds {
			w := worldstest.Additive(seed, 24, 0.15)
			_, res, _ := searchWorld(t, w, n, seed)
			if res.Challenger == nil {
				t.Fatalf("seed %d: no challenger", seed)
			}
			truth := w.Oracle(string(res.Challenger.Text), split(w.Cases(30, 30, 60)).Val)
			bias += (res.Challenger.Metrics.Quality - truth) / float64(seeds)
		}
		t.Logf("%d rollouts: the winner's validation score exceeds the truth by %+.4f", n, bias)
		if bias > most {
			t.Errorf("%d rollouts: bias %+.4f, want at most %.2f", n, bias, most)
		}
	}
}
