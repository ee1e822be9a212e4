package pareto

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func drawPairs(t *rapid.T) (out []Pair) {
	value := rapid.OneOf(rapid.Float64Range(-1, 1), rapid.SampledFrom([]float64{-1, 0, 1, math.NaN()}))
	for range rapid.IntRange(0, 40).Draw(t, "pairs") {
		out = append(out, pairOf(value.Draw(t, "quality"), value.Draw(t, "latency"), value.Draw(t, "cost"), value.Draw(t, "retries")))
	}
	return out
}

// TestOtherObjectives: judged by other objectives and by its own again, a trial is what it
// was, stored in between or not; what does not count is no evidence; the others keep their
// levels; and a promotion needs an e-process that reaches its level among all pairs.
func TestOtherObjectives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		was := NewTrial(Config{})
		for _, p := range drawPairs(t) {
			was.Add(p)
		}
		names := []string{"quality"}
		for _, o := range Objectives[1:] {
			if rapid.Bool().Draw(t, o.Name) {
				names = append(names, o.Name)
			}
		}
		rule := was.Config()
		rule.Without = Without(names)
		other := was.Under(rule)
		raw, err := json.Marshal(other)
		if err != nil {
			t.Fatal(err)
		}
		var stored Trial
		if err := json.Unmarshal(raw, &stored); err != nil {
			t.Fatal(err)
		}
		for _, again := range []*Trial{other.Under(was.Config()), stored.Under(was.Config())} {
			if got, want := again.Decide(), was.Decide(); !reflect.DeepEqual(got, want) {
				t.Fatalf("by its own objectives again\n%+v, was\n%+v", got, want)
			}
		}
		d := other.Decide()
		for i, o := range d.PerObjective {
			if rule.Without.Has(Objective(i)) && (o.Measured || o.Better != 1 || o.Worse != 1 || o.Beyond) {
				t.Fatalf("%v does not count: %+v", Objective(i), o)
			}
			if limit := was.Config().limits()[i]; o.Alpha != limit.Alpha {
				t.Fatalf("%v has the level %g, want %g", Objective(i), o.Alpha, limit.Alpha)
			}
		}
		if d.Verdict != Promote {
			return
		}
		all := &Trial{cfg: was.Config(), verdict: Undecided}
		for _, p := range was.Pairs() {
			all.enter(p)
		}
		for o := range Objective(objectives) {
			if d.Route == o.String() && !all.better(o) {
				t.Fatalf("promoted by %v, whose e-process among all pairs comes to %g", o, all.evidence[o].better.Max())
			}
		}
	})
}

func TestSetOfObjectives(t *testing.T) {
	if s := Without(nil); s != 0 || s.Names() != nil {
		t.Errorf("without none: %v", s.Names())
	}
	if s := Without([]string{"cost"}); s.Has(Quality) || s.Has(Cost) || !s.Has(Latency) || !s.Has(Retries) {
		t.Errorf("with quality and cost: %v are left out", s.Names())
	}
	for _, bad := range []string{`["speed"]`, `3`} {
		if err := json.Unmarshal([]byte(bad), new(Set)); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
	var trial Trial
	if err := json.Unmarshal([]byte(`{"version":2,"pairs":[],"verdict":"undecided","config":{"quality":{"alpha":0.04},"latency":{"alpha":0.01},"cost":{"alpha":0.01},"retries":{"alpha":0.01},"tolerance_alpha":0.05,"guard_alpha":0.05,"without":["quality"]}}`), &trial); err == nil {
		t.Error("a trial without quality is read")
	}
}
