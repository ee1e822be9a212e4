package search

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// TestNoiseIsWhatTheWorldHas: the estimate from repeated trials is near the
// truth, and a world without noise has none.
func TestNoiseIsWhatTheWorldHas(t *testing.T) {
	const seeds = 4
	got, want := 0.0, 0.0
	for seed := range int64(seeds) {
		_, res, journal := searchWorld(t, worldstest.Additive(seed, 16, 0.15), 1200, seed)
		pairs := float64(res.Noise.Pairs)
		if pairs < 2*repeats {
			t.Fatalf("seed %d: only %g repeated trials with budget to spare", seed, pairs)
		}
		if !slices.ContainsFunc(journal.Events, func(e record.Event) bool { return e.Kind == "noise" }) {
			t.Errorf("seed %d: the noise is not told", seed)
		}
		got += res.Noise.Quality / seeds
		// A winner's cases have 1 to 4 checks of 0.85 each: a variance of 0.1275/k,
		// on average over k 0.066. The incumbent fails always, without noise.
		want += math.Sqrt(0.066*(pairs-repeats)/pairs) / seeds
	}
	if math.Abs(got-want) > 0.07 {
		t.Errorf("one rollout scatters by %.3f, the world says %.3f", got, want)
	}
	w := worldstest.Additive(1, 12, 0)
	w.PerBloat, w.PerToken = 0, 0
	if _, res, _ := searchWorld(t, w, 900, 1); res.Noise.Quality != 0 || res.Noise.Pairs == 0 {
		t.Errorf("a world without noise: %+v", res.Noise)
	}
}

// TestNoiseCostsNothingThatDecides: the repeats of the incumbent come after all
// else, and only if the cap leaves room.
func TestNoiseCostsNothingThatDecides(t *testing.T) {
	m := &recordtest.Memory{}
	e, inc, cases := engine(t, worldstest.Additive(1, 16, 0.1), 300, m)
	if _, err := e.Search(context.Background(), inc, cases); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(m.Events, func(e record.Event) bool { return e.Kind == "noise" })
	if at >= 0 && at != len(m.Events)-2 {
		t.Errorf("the noise is event %d of %d, want the last but the end", at+1, len(m.Events))
	}
}

func TestFrontWithinNoise(t *testing.T) {
	x := func(v float64) *float64 { return &v }
	ms := []eval.Metrics{
		{Quality: 0.80, CostUSD: x(1.00), LatencyMS: x(100)},
		{Quality: 0.82, CostUSD: x(1.00), LatencyMS: x(100)}, // better by less than the noise
		{Quality: 0.60, CostUSD: x(1.01), LatencyMS: x(101)}, // worse by more
	}
	noise := Noise{Cases: 50, Quality: 0.25, CostUSD: x(0.2), LatencyMS: x(30)}
	if got := Front(ms, noise); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("front within noise %v, want [0 1]", got)
	}
	if got := Front(ms, Noise{}); !slices.Equal(got, []int{1}) {
		t.Errorf("front without noise %v, want [1]", got)
	}
	// Where one price is missing all costs are tokens, and so is their noise.
	ms = []eval.Metrics{{CostUSD: x(0.001), Tokens: x(100)}, {Tokens: x(130)}}
	if got := Front(ms, Noise{Cases: 2, Tokens: x(50)}); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("tokens within noise: %v, want both", got)
	}
	if got := Front(ms, Noise{Cases: 2, Tokens: x(20)}); !slices.Equal(got, []int{0}) {
		t.Errorf("tokens beyond noise: %v, want the cheaper", got)
	}
}

func TestNoisyInstrumentSaysSo(t *testing.T) {
	result := func(had, has float64) *Result {
		r := &Result{Incumbent: Scored{Metrics: eval.Metrics{Quality: had}}}
		if has > 0 {
			r.Challenger = &Scored{Metrics: eval.Metrics{Quality: has}}
		}
		return r
	}
	noisy := Noise{Cases: 30, Pairs: 30, Quality: 0.35}
	for name, c := range map[string]struct {
		noise   Noise
		heldOut int
		res     *Result
		want    []string // parts of the one warning; nil for none
	}{
		"small gain, few cases":   {noisy, 12, result(0.6, 0.7), []string{"±0.35", "12 unseen requests", "validation found is +0.10", "about "}},
		"nothing left to gain":    {noisy, 12, result(0.9, 0), []string{"all that there is to gain is +0.10"}},
		"large gain":              {noisy, 60, result(0.3, 0.9), nil},
		"no noise":                {Noise{Cases: 30, Pairs: 30}, 12, result(0.6, 0.7), nil},
		"too little was repeated": {Noise{Cases: 30, Pairs: 2, Quality: 0.5}, 12, result(0.6, 0.7), nil},
		"a judge that flips coins": {Noise{Judge: pareto.Agreement{BothPass: 6, OnlyOwner: 5, OnlyJudge: 5, BothFail: 4}}, 12, result(0.6, 0.9),
			[]string{"20 checks", "10 got the same word", "rubrics"}},
		"a steady judge": {Noise{Judge: pareto.Agreement{BothPass: 10, BothFail: 9, OnlyJudge: 1}}, 12, result(0.6, 0.9), nil},
	} {
		got := c.noise.warnings(c.heldOut, pareto.DefaultConfig().Quality.Alpha, c.res)
		if len(got) != min(1, len(c.want)) {
			t.Errorf("%s: %q", name, got)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(got[0], part) {
				t.Errorf("%s: %q lacks %q", name, got[0], part)
			}
		}
	}
}
