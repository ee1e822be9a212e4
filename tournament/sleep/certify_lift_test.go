package sleep

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/pareto"
)

// TestLift: a proposal for retirement asks that worth be shown to be small on all
// that was measured, and not only that none was shown.
func TestLift(t *testing.T) {
	none := math.NaN()
	same := func(n int, p pareto.Pair) (out []pareto.Pair) {
		for range n {
			out = append(out, p)
		}
		return out
	}
	// scattered savings average out to mean, and are far from it each.
	scattered := func(n int, mean float64) (out []pareto.Pair) {
		for i := range n {
			d := mean + 0.8*float64(1-2*(i%2))
			out = append(out, pareto.Pair{Latency: none, Cost: max(-1, min(1, d))})
		}
		return out
	}
	for _, c := range []struct {
		name  string
		pairs []pareto.Pair
		want  Lift
		word  string
	}{
		{"no difference at all", same(120, pareto.Pair{Latency: none, Cost: none}), NoLift, "quality +0.00 over no skill (90% interval"},
		{"too few of them", same(19, pareto.Pair{Latency: none, Cost: none}), LiftOpen, "19 cases"},
		{"better answers", same(30, pareto.Pair{Quality: 0.5}), LiftShown, "quality +0.50"},
		{"worse answers", same(120, pareto.Pair{Quality: -0.5}), NoLift, "worse than no skill"},
		{"half the time", same(120, pareto.Pair{Latency: 0.5}), LiftShown, "saves time"},
		{"half the cost", same(120, pareto.Pair{Cost: 0.5, Latency: none}), LiftShown, "saves cost"},
		{"a second request less", same(120, pareto.Pair{Retries: 0.5, Latency: none, Cost: none}), LiftShown, "saves a second request"},
		{"it costs more", same(120, pareto.Pair{Cost: -0.3, Latency: -0.3}), NoLift, "quality +0.00"},
		{"nobody knows what it saves", scattered(120, 0.15), LiftOpen, "quality +0.00"},
		{"shown to save little", scattered(1200, 0), NoLift, "quality +0.00"},
	} {
		got, words := liftOf(c.pairs)
		if got != c.want || !strings.Contains(words, c.word) {
			t.Errorf("%s: lift %q, %s; want %q with %q", c.name, got, words, c.want, c.word)
		}
	}
}

// TestNoLiftUnderASaving: a skill that saves as much as matters, and nothing else,
// is proposed for retirement in at most 5 % of certifications.
func TestNoLiftUnderASaving(t *testing.T) {
	plays, wrong := 60, 0
	rng := rand.New(rand.NewPCG(5, 5))
	for range plays {
		var pairs []pareto.Pair
		for lift := LiftOpen; lift == LiftOpen && len(pairs) < 160; {
			for range 16 {
				p := pairOf(rng, 0)
				p.Latency, p.Cost = math.NaN(), max(-1, min(1, SavingMargin+0.4*rng.NormFloat64()))
				pairs = append(pairs, *p)
			}
			if lift, _ = liftOf(pairs); lift == NoLift {
				wrong++
			}
		}
	}
	if most := int(math.Ceil(0.05*float64(plays) + 2*math.Sqrt(0.05*0.95*float64(plays)))); wrong > most {
		t.Errorf("%d of %d proposed, want at most %d", wrong, plays, most)
	}
}
