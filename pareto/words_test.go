package pareto

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestChance(t *testing.T) {
	for e, want := range map[float64]string{
		math.NaN(): "no difference seen yet", 1: "no difference seen yet", 3.99: "no difference seen yet", 4: "at most 1 time in 4 by chance", 25.7: "at most 1 time in 25 by chance",
		999_999: "at most 1 time in 999999 by chance", 1e6: "at most 1 time in a million by chance", math.MaxFloat64: "at most 1 time in a million by chance",
	} {
		if got := Chance(e); got != want {
			t.Errorf("%g: %q, want %q", e, got, want)
		}
	}
	for level, want := range map[float64]string{0.04: "1 in 25", 0.05: "1 in 20", 0.04 * 0.05 / 0.05 / 2: "1 in 50", 0.03: "1 in 34", 0: "1 in a million"} {
		if got := Proves(level); got != want {
			t.Errorf("level %g: %q, want %q", level, got, want)
		}
	}
	// What is told as proving it is enough, whatever the level.
	rapid.Check(t, func(r *rapid.T) {
		level := rapid.Float64Range(1e-4, 0.5).Draw(r, "level")
		if said := math.Ceil(1/level - 1e-6); said*level < 1-1e-5 || (said-1)*level >= 1 {
			r.Errorf("1 in %g at level %g", said, level)
		}
	})
}

// TestReasonOfAProofThatWaited: quality decided at one pair while cost held it back until a
// later one: the interval is the one of that pair, then the present one.
func TestReasonOfAProofThatWaited(t *testing.T) {
	trial := NewTrial(Config{})
	for i := 0; trial.Verdict().IsOpen() && i < 60; i++ {
		p := Pair{Quality: 1, Latency: 0.1, Cost: 0.5, Bill: Bill{USD: [2]float64{0.04, 0.01}}}
		if i < 10 {
			p.Cost, p.Bill.USD = -0.5, [2]float64{0.01, 0.04}
		} else if i%2 == 0 {
			p.Quality = 0
		}
		trial.Add(p)
	}
	d := trial.Decide()
	at, now := d.PerObjective[Quality].Proved, d.PerObjective[Quality].Estimate
	if d.Verdict != Promote || at == nil || at.N >= now.N {
		t.Fatalf("%v after %d pairs, proved at %+v", d.Verdict, d.Cases, at)
	}
	want := change(Quality, *at) + " over " + counted(at.N) + " (now " + change(Quality, now)
	if !strings.HasPrefix(d.Reason, want) {
		t.Errorf("%s\nwant %s …", d.Reason, want)
	}
	for _, part := range []string{", expect about +0.", "cost at most ×", "latency at most ×", "by chance"} {
		if !strings.Contains(d.Reason, part) {
			t.Errorf("%s\nwithout %q", d.Reason, part)
		}
	}
	if d.Gain >= now.Mean {
		t.Errorf("the gain to expect is %g of a mean of %g", d.Gain, now.Mean)
	}
}

// TestNeeded: what a promising challenger still takes falls with its gain; of others nothing is
// told.
func TestNeeded(t *testing.T) {
	needed := func(pairs int, quality float64) int {
		tr := NewTrial(DefaultConfig())
		for range pairs {
			tr.Add(Pair{Quality: quality})
		}
		d := tr.Decide()
		return d.Needed()
	}
	if n := needed(12, 0.3); n <= 12 || n > 100 {
		t.Errorf("%d cases for a gain of 0.3", n)
	}
	if n, fewer := needed(16, 0.2), needed(12, 0.3); n == 0 || fewer == 0 || fewer >= n {
		t.Errorf("%d cases for 0.2, %d for 0.3: a larger gain takes fewer", n, fewer)
	}
	for name, n := range map[string]int{"nothing yet": needed(0, 0), "no gain": needed(10, 0), "worse": needed(5, -0.5), "no sign": needed(3, 0.3), "shown": needed(60, 1)} {
		if n != 0 {
			t.Errorf("%s: %d cases", name, n)
		}
	}
}

// TestReasonOfADrop: a text that only lacks lines can win by its cost; a drop names that chance
// beside the one of quality.
func TestReasonOfADrop(t *testing.T) {
	trial := NewTrial(Config{})
	for i := 0; trial.Verdict().IsOpen() && i < 400; i++ {
		p := Pair{Quality: 0.3, Latency: math.NaN(), Cost: 0.001, Bill: Bill{USD: [2]float64{0.01, 0.01}}}
		if i%2 == 0 {
			p.Quality = -0.3
		}
		trial.Add(p)
	}
	d := trial.Decide()
	for _, part := range []string{": dropped, because the chance of a gain that matters is only ", " % for quality (+0.10) and ", " % for cost (×0.90)"} {
		if !strings.Contains(d.Reason, part) {
			t.Errorf("%v after %d pairs: %s\nwithout %q", d.Verdict, d.Cases, d.Reason, part)
		}
	}
}

// Only what was shown to be worse is called so.
func TestAnswer(t *testing.T) {
	answer := func(trial *Trial) string {
		d := trial.Decide()
		return Answer(d.Verdict, d.Route)
	}
	for quality, want := range map[float64]string{1: "better (at most 5 % luck)", -1: "worse", 0: "no difference seen"} {
		trial := NewTrial(DefaultConfig())
		for range 200 {
			trial.Add(Pair{Quality: quality})
		}
		if got := answer(trial); got != want {
			t.Errorf("quality %+g: %s, want %s", quality, got, want)
		}
	}
	few := NewTrial(DefaultConfig())
	for range 4 {
		few.Add(Pair{Quality: 1})
	}
	if got := answer(few); got != "probably better" {
		t.Errorf("four of four: %s", got)
	}
	if got := answer(NewTrial(DefaultConfig())); got != "no difference seen" {
		t.Errorf("no pair: %s", got)
	}
	for _, c := range []struct {
		verdict     Verdict
		route, want string
	}{
		{Promote, "cost", "no worse, and cheaper (at most 5 % luck)"},
		{Promote, "retries", "no worse, and better in retries (at most 5 % luck)"},
		{Reject, "cost", "worse in cost"}, {Reject, routeElsewhere, "worse on other requests"}, {Reject, routeDropped, "no difference seen"},
	} {
		if got := Answer(c.verdict, c.route); got != c.want {
			t.Errorf("%v by %s: %s, want %s", c.verdict, c.route, got, c.want)
		}
	}
}
