package record

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
)

func heardIn(t *testing.T, gains map[string][]float64, order ...string) *State {
	t.Helper()
	at := time.Date(2026, 9, 3, 12, 0, 0, 0, time.UTC)
	st := &State{Trial: pareto.NewTrial(pareto.Config{})}
	n := 0
	for _, folder := range order {
		for _, d := range gains[folder] {
			c := &eval.Case{ID: fmt.Sprint("c", n), Prompt: "p", Source: &eval.Source{Origin: Mined, Session: folder, Time: at}}
			k := Cluster{Name: c.ID, Cases: []*eval.Case{c}}
			k.Place = PlaceOf(&k, []Use{{Session: "elsewhere", Workspace: "/x"}, {Session: folder, Workspace: folder}})
			st.Use(k, pareto.Pair{Quality: d}, nil)
			n, at = n+1, at.Add(30*24*time.Hour/4)
		}
	}
	return st
}

func TestHeard(t *testing.T) {
	shop, museum := "/home/u/shop", "/home/u/museum"
	for name, c := range map[string]struct {
		gains       map[string][]float64
		order       []string
		says, rests string
	}{
		"one":                   {map[string][]float64{shop: {1, 0, 1}}, []string{shop}, "3 requests in 1 workspace (shop), Sep 2026; of other work it says nothing", ""},
		"two gain":              {map[string][]float64{shop: {1, 0, 1, 0}, museum: {1, 1, -1}}, []string{shop, museum}, "7 requests in 2 workspaces, Sep–Oct 2026: quality +0.50 in shop (4), +0.33 in museum (3)", ""},
		"one of two gains":      {map[string][]float64{shop: {1, 1, 1}, museum: {0, 0}}, []string{shop, museum}, "5 requests in 2 workspaces, Sep–Oct 2026: quality +1.00 in shop (3), +0.00 in museum (2)", "shop"},
		"the others lose":       {map[string][]float64{shop: {-1, 0}, museum: {1}}, []string{shop, museum}, "3 requests in 2 workspaces, Sep 2026: quality -0.50 in shop (2), +1.00 in museum (1)", "museum"},
		"of some it is unknown": {map[string][]float64{shop: {1}, "": {1, 1}}, []string{shop, ""}, "3 requests in 1 workspace (shop), 2 of no known one, Sep 2026; of other work it says nothing", ""},
		"of none it is known":   {map[string][]float64{"": {1, 1}}, []string{""}, "2 requests, Sep 2026", ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := heardIn(t, c.gains, c.order...).Heard()
			if h.String() != c.says || h.RestsOn() != c.rests {
				t.Errorf("%q, rests on %q; want %q, %q", h, h.RestsOn(), c.says, c.rests)
			}
		})
	}
}

// TestHeardUpToTheProof: what came after the pair that decided is not what the verdict is about.
func TestHeardUpToTheProof(t *testing.T) {
	st := &State{Trial: pareto.NewTrial(pareto.Config{})}
	for i := 0; st.Trial.Verdict().IsOpen() && i < 60; i++ {
		p := pareto.Pair{Quality: 1}
		if i < 10 { // dearer, so that quality alone does not decide
			p.Cost, p.Bill = -0.5, pareto.Bill{USD: [2]float64{0.01, 0.04}}
		} else {
			p.Cost, p.Bill = 0.5, pareto.Bill{USD: [2]float64{0.04, 0.01}}
		}
		c := &eval.Case{ID: fmt.Sprint(i), Prompt: "p"}
		st.Use(Cluster{Name: c.ID, Cases: []*eval.Case{c}}, p, nil)
	}
	h := st.Heard()
	if st.Trial.Verdict() != pareto.Promote || h == nil || h.Requests >= st.Trial.Cases() || h.Requests < 5 {
		t.Errorf("%v after %d pairs, heard %+v", st.Trial.Verdict(), st.Trial.Cases(), h)
	}
}

// TestHeardByAnOlderEvolve: a trial with pairs of unknown places says nothing.
func TestHeardByAnOlderEvolve(t *testing.T) {
	st := heardIn(t, map[string][]float64{"/a": {1, 1}}, "/a")
	rec := &TrialRecord{Run: "r1"}
	st.Version = 1
	if err := rec.Save(st); err != nil {
		t.Fatal(err)
	}
	again, _, err := rec.Begin("r2", pareto.Config{}, Model{})
	if h := again.Heard(); err != nil || h == nil || h.Requests != 2 || len(h.Workspaces) != 1 {
		t.Errorf("continued: %+v, %v", h, err)
	}
	delete(st.Places, "c0")
	if h := st.Heard(); h != nil || h.RestsOn() != "" {
		t.Errorf("heard %+v", h)
	}
}

// TestHeardUnderAnotherRule: a trial that closes earlier once the cost does not count is about
// the requests up to the pair that decided.
func TestHeardUnderAnotherRule(t *testing.T) {
	st := &State{Trial: pareto.NewTrial(pareto.Config{}), Places: map[string]Place{}}
	for i := range 20 {
		name := fmt.Sprint("session ", i)
		st.Places[name] = Place{Workspace: "/home/you/shop", Time: day(i)}
		st.add(name, pareto.Pair{Quality: 1, Latency: math.NaN(), Cost: -0.2, Retries: math.NaN(), Bill: pareto.Bill{USD: [2]float64{1, 2}}})
	}
	st.Count([]string{pareto.Quality.String()})
	if st.Trial.Verdict() != pareto.Promote || st.Trial.Cases() >= 20 {
		t.Fatalf("%s after %d pairs", st.Trial.Verdict(), st.Trial.Cases())
	}
	h := st.Heard()
	if h == nil || h.Requests != st.Trial.Cases() || !h.To.Equal(day(h.Requests-1)) {
		t.Errorf("%+v of %d pairs", h, st.Trial.Cases())
	}
}
