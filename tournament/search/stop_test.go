package search

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

func TestStops(t *testing.T) {
	for _, c := range []struct {
		name string
		p    Progress
		want string // part of the reason; "" to go on
	}{
		{"patience", Progress{Stale: 2, Best: 1}, ""},
		{"patience", Progress{Stale: 3}, "3 rounds without"},
		{"perfect", Progress{Best: 0.99}, ""},
		{"perfect", Progress{Best: 1}, "1.00 is reached"},
		{"perfect", Progress{Best: math.NaN(), Stale: 3}, "3 rounds without"},
		{"budget", Progress{Stale: 300, Best: 1}, ""},
	} {
		got := Stops[c.name](3).Done(c.p)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s at %+v: %q, want %q", c.name, c.p, got, c.want)
		}
	}
}

// TestPerfectStops: a search that has nothing left to gain reports that.
func TestPerfectStops(t *testing.T) {
	w := worldstest.Additive(1, 6, 0)
	w.PerBloat, w.PerToken = 0, 0
	e, inc, cases := engine(t, w, 0, &recordtest.Memory{})
	e.Options.Stop = Stops["perfect"](8)
	res, err := e.Search(context.Background(), inc, cases)
	if err != nil || !strings.Contains(res.Stop, "is reached") {
		t.Fatalf("stopped because %+v, %v", res, err)
	}
}

func TestBatches(t *testing.T) {
	nan := math.NaN()
	parent := []float64{0, 1, nan, 0.5, 1, 0, nan, 1, 1}
	for name, b := range Batches {
		for seed := range uint64(20) {
			got := b.Pick(parent, []int{5, 2, 0}, 6, rand.New(rand.NewPCG(seed, 1)))
			slices.Sort(got)
			if len(got) != 6 || len(slices.Compact(slices.Clone(got))) != 6 || slices.Contains(got, 2) || slices.Contains(got, 6) {
				t.Fatalf("%s: %v, want six different cases that the parent has a score on", name, got)
			}
			if name == "targeted" && (!slices.Contains(got, 0) || !slices.Contains(got, 5)) {
				t.Fatalf("%v lacks a case that the change is meant for", got)
			}
		}
		if got := b.Pick(parent, nil, 20, rand.New(rand.NewPCG(1, 1))); len(got) != 7 {
			t.Errorf("%s: %v, want all that are known", name, got)
		}
	}
}

func TestEpsilonGreedy(t *testing.T) {
	s := &State{pool: &pool{}, best: 3, Rand: rand.New(rand.NewPCG(1, 1))}
	for range 10 {
		s.pool.members = append(s.pool.members, &Member{})
	}
	best := 0
	for range 2000 {
		if (EpsilonGreedy{Epsilon: 0.2}).Select(s) == s.Best() {
			best++
		}
	}
	if best < 1560 || best > 1720 { // 0.8 + 0.2/10 of 2,000
		t.Errorf("took the best %d times of 2000, want about 1640", best)
	}
}
