package pareto

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// ExampleTrial_AddRest: a rule that applies to some requests, and what it does to others.
func ExampleTrial_AddRest() {
	rule := DefaultConfig().WithRest()
	rule.Share = 0.05
	t := NewTrial(rule)
	rest := 0
	for t.Verdict().IsOpen() {
		if t.WantsRest() {
			rest++
			t.AddRest(Pair{Quality: float64(rest%3-1) / 3, Latency: nan, Cost: nan, Retries: 0})
			continue
		}
		t.Add(Pair{Quality: 2. / 3, Latency: nan, Cost: nan, Retries: 0})
	}
	d := t.Decide()
	fmt.Println(d.Verdict, "after", d.Cases, "and", d.Rest.Cases)
	fmt.Println(d.Reason)
	// Output:
	// promote after 9 and 65
	// on 9 requests to which the changed rules apply quality +0.67 (92 % interval +0.00 to +0.80), expect about +0.63: at most 1 time in 25 by chance, and nothing else is worse than its tolerance; on 65 others no difference seen (quality +0.01 (90 % interval -0.09 to +0.10); not lower by 10 points, at most 1 time in 21 by chance); over all your requests +0.038
}

// TestTrialsWithoutARest are what they were, to the byte.
func TestTrialsWithoutARest(t *testing.T) {
	trial := NewTrial(Config{})
	trial.Add(Pair{Quality: 0.5, Latency: 0.1, Cost: nan, Retries: 0})
	got, err := json.Marshal(trial)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"version":2,"config":{"quality":{"alpha":0.04,"tolerance":0.05,"gain":0},"latency":{"alpha":0.0033333333333333335,"tolerance":0.08048202372184059,"gain":0.038000773361262494},"cost":{"alpha":0.0033333333333333335,"tolerance":0.08048202372184059,"gain":0.038000773361262494},"retries":{"alpha":0.0033333333333333335,"tolerance":0.05,"gain":0.05},"tolerance_alpha":0.05,"guard_alpha":0.05,"failures":0.5},"pairs":[{"d":[0.5,0.1,null,0]}],"verdict":"undecided"}`
	if string(got) != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if trial.WantsRest() || !trial.RestHolds() || !trial.RestSeen() || trial.Decide().Rest != nil {
		t.Error("a trial about all requests has a rest")
	}
}

// ruled draws trials with a rest and their pairs, in any order.
func ruled(t *rapid.T) (*Trial, []bool, []Pair) {
	rule := night(rapid.IntRange(1, 3).Draw(t, "night"), 0.5).WithRest()
	rule.Share = rapid.SampledFrom([]float64{0, 0.05, 0.5}).Draw(t, "share")
	trial := NewTrial(rule)
	kinds := rapid.SliceOfN(rapid.Bool(), 0, 120).Draw(t, "kinds")
	pairs := make([]Pair, len(kinds))
	for i := range pairs {
		pairs[i] = pairOf(rapid.Float64Range(-1, 1).Draw(t, "q"), nan, rapid.Float64Range(-0.2, 0.2).Draw(t, "c"), 0)
	}
	return trial, kinds, pairs
}

func enter(t *Trial, rest bool, p Pair) {
	if rest {
		t.AddRest(p)
	} else {
		t.Add(p)
	}
}

// TestStoredWithTheRest: a trial that is stored, copied, or counted anew under its own rule is
// the same trial, and goes on as if nothing had happened.
func TestStoredWithTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trial, kinds, pairs := ruled(t)
		cut := rapid.IntRange(0, len(pairs)).Draw(t, "cut")
		for i := range cut {
			enter(trial, kinds[i], pairs[i])
		}
		stored, err := json.Marshal(trial)
		if err != nil {
			t.Fatal(err)
		}
		read := new(Trial)
		if err := json.Unmarshal(stored, read); err != nil {
			t.Fatal(err)
		}
		clone, under := trial.Clone(), trial.Under(trial.Config())
		for i := cut; i < len(pairs); i++ {
			for _, x := range []*Trial{trial, read, clone, under} {
				enter(x, kinds[i], pairs[i])
			}
		}
		for name, x := range map[string]*Trial{"read": read, "clone": clone, "under": under} {
			if !reflect.DeepEqual(x.Decide(), trial.Decide()) {
				t.Errorf("%s: %+v, want %+v", name, x.Decide(), trial.Decide())
			}
		}
	})
}

// TestUnderAStricterRule: what a laxer rule had closed goes on with all pairs, in their order.
func TestUnderAStricterRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, kinds, pairs := ruled(t)
		lax, strict := NewTrial(DefaultConfig().WithRest()), NewTrial(DefaultConfig().WithRest().Within(0.001))
		for i := range pairs {
			enter(lax, kinds[i], pairs[i])
			enter(strict, kinds[i], pairs[i])
		}
		there := strict.Under(lax.Config())
		if there.Verdict() != lax.Verdict() || there.Cases() != lax.Cases() || there.RestCases() != lax.RestCases() {
			t.Fatalf("%v after %d and %d, want %v after %d and %d", there.Verdict(), there.Cases(), there.RestCases(), lax.Verdict(), lax.Cases(), lax.RestCases())
		}
		raw, err := json.Marshal(there)
		if err != nil {
			t.Fatal(err)
		}
		again := new(Trial)
		if err := json.Unmarshal(raw, again); err != nil {
			t.Fatal(err)
		}
		if back := again.Under(strict.Config()); !reflect.DeepEqual(back.Decide(), strict.Decide()) {
			t.Errorf("%+v, want %+v", back.Decide(), strict.Decide())
		}
	})
}

// TestProofsNeedTheRest: whatever the pairs, a promotion has RestLeast pairs of the rest, which
// refute that it is worse by the margin, and none of them is asked for before it is promising.
func TestProofsNeedTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trial, kinds, pairs := ruled(t)
		for i := range pairs {
			if trial.WantsRest() && trial.won() == "" && trial.Verdict() != Promising {
				t.Fatalf("asks for the rest: %+v", trial.Decide())
			}
			enter(trial, kinds[i], pairs[i])
		}
		d := trial.Decide()
		if trial.RestSeen() && (d.Rest.Quality.N < RestLeast || d.Rest.Within < promising || d.Rest.Worse >= promising) {
			t.Errorf("a night may put it in place: %+v", d.Rest)
		}
		if d.Verdict == Promote && (d.Rest.Quality.N < RestLeast || d.Rest.Within < 1/d.Rest.Alpha*(1-1e-9) || d.Rest.Quality.Low <= -d.Rest.Margin) {
			t.Errorf("%+v", d.Rest)
		}
	})
}

// TestProofsAreNotWorseOverAll: a little harm on most requests outweighs a gain on a few, though
// it is less than the margin.
func TestProofsAreNotWorseOverAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := DefaultConfig().WithRest()
		rule.Share = rapid.Float64Range(0.01, 0.5).Draw(t, "share")
		trial := NewTrial(rule)
		for range 60 {
			trial.Add(Pair{Quality: 0.5, Latency: nan, Cost: nan, Retries: 0})
		}
		harm := rapid.Float64Range(0, 0.04).Draw(t, "harm")
		for range 150 {
			trial.AddRest(Pair{Quality: -harm, Latency: nan, Cost: nan, Retries: 0})
		}
		d := trial.Decide()
		total := rule.Share*0.5 - (1-rule.Share)*harm
		if d.Verdict == Promote != (total >= 0) && math.Abs(total) > 1e-9 && d.Verdict != Reject {
			t.Errorf("%v with %+.4f over all: %s", d.Verdict, total, d.Reason)
		}
		if d.Rest.OverAll == nil || math.Abs(*d.Rest.OverAll-total) > 1e-9 || !strings.Contains(d.Reason, fmt.Sprintf("over all your requests %+.3f", *d.Rest.OverAll)) {
			t.Errorf("%+v, want %+.4f: %s", d.Rest, total, d.Reason)
		}
	})
}

// TestTheRestHarms: a text that is better where it applies, and is shown to be worse elsewhere.
func TestTheRestHarms(t *testing.T) {
	trial := NewTrial(DefaultConfig().WithRest())
	for range 30 {
		trial.Add(Pair{Quality: 1, Latency: nan, Cost: nan, Retries: 0})
	}
	if trial.Verdict().IsOpen() != true || !trial.WantsRest() {
		t.Fatalf("%v without the rest", trial.Verdict())
	}
	if r := trial.Decide().Reason; !strings.HasSuffix(r, "there it is better, at most 1 time in a million by chance; no other request was compared yet") {
		t.Errorf("%q", r)
	}
	for trial.Verdict().IsOpen() {
		trial.AddRest(Pair{Quality: -1. / 3, Latency: nan, Cost: nan, Retries: 0})
	}
	d := trial.Decide()
	if _, worse := trial.Now(); d.Verdict != Reject || d.Route != routeElsewhere || worse < 20 || trial.RestSeen() {
		t.Errorf("%+v, worse %g", d, worse)
	}
	if !strings.Contains(d.Reason, "others it is worse (quality -0.33") {
		t.Errorf("%q", d.Reason)
	}
}

// TestStepsElsewhere: what promotions cost elsewhere adds up, and a gain there makes up for it.
func TestStepsElsewhere(t *testing.T) {
	d := &Decision{Verdict: Promote, Route: Quality.String(), PerObjective: make([]ObjectiveEvidence, objectives),
		Rest: &RestEvidence{Quality: Estimate{Mean: -0.04, N: 100}}}
	var s Steps
	s.Add(d)
	if s.Elsewhere != 0.04 || s.Quality != 0 || s.Beyond(d) != "" {
		t.Errorf("%+v, %q", s, s.Beyond(d))
	}
	if got := s.Bound(DefaultConfig().WithRest()).Rest.Tolerance; got < 0.06-1e-12 || got > 0.06+1e-12 {
		t.Errorf("%g is left of the margin", got)
	}
	s.Add(d)
	if s.Beyond(d) == "" {
		t.Errorf("%+v allows a third", s)
	}
	if got := s.Bound(DefaultConfig()); got.Rest != (Limit{}) {
		t.Errorf("%+v of a trial without a rest", got.Rest)
	}
	d.Rest.Quality.Mean = 0.08
	if s.Add(d); s.Elsewhere != 0 {
		t.Errorf("%+v after a gain", s)
	}
}

// TestRestPairs is what the rest takes, and how often each harm there is proved, by how often
// the incumbent fails there, at the level of a first night.
func TestRestPairs(t *testing.T) {
	for _, failures := range []float64{0.1, 0.3, 0.5} {
		for _, harm := range []float64{0, 0.05, 0.1, 0.2} {
			w := World{Failures: failures, Gain: -harm, Replays: 3}
			draw := w.pairs(rand.New(rand.NewPCG(31, 0)))
			held, rejected := 0, 0
			var n []int
			for range repetitions() {
				trial := NewTrial(night(1, 0.5).WithRest())
				for trial.RestCases() < 600 && trial.Verdict().IsOpen() && !trial.RestHolds() {
					trial.AddRest(draw())
				}
				switch {
				case trial.RestHolds():
					held++
					n = append(n, trial.RestCases())
				case trial.Verdict() == Reject:
					rejected++
				}
			}
			share := float64(held) / float64(repetitions())
			told := ""
			if len(n) > 0 {
				told = fmt.Sprintf(", after %d pairs in half (80 %%: %d)", quantile(n, .5), quantile(n, .8))
			}
			t.Logf("%s: lets a proof pass in %.4f by 600 pairs, shown worse in %.4f%s", w, share, float64(rejected)/float64(repetitions()), told)
			if harm >= restMargin && share > 0.025+sampling(0.025, repetitions()) {
				t.Errorf("%s passes in %.4f", w, share)
			}
			if harm == 0 && (share < 0.9 || quantile(n, .5) > 100) {
				t.Errorf("%s passes in %.4f, after %d pairs in half", w, share, quantile(n, .5))
			}
		}
	}
}
