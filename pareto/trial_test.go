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

var nan = math.NaN()

func ExampleTrial() {
	t := NewTrial(Config{})
	for range 11 { // the challenger passes where the incumbent fails
		t.Add(Pair{Quality: 1, Latency: math.NaN(), Cost: math.NaN(), Retries: 1})
	}
	d := t.Decide()
	fmt.Println(d.Verdict, "after", d.Cases)
	fmt.Println(d.Reason)
	for _, w := range d.Warnings {
		fmt.Println("warning:", w)
	}
	// Output:
	// promote after 7
	// quality +1.00 (92% interval +0.05 to +1.00) over 7 held-out cases: e = 33.3 reached 25, and nothing else is worse than its tolerance
	// warning: latency was never measured and is not part of the verdict
	// warning: cost was never measured and is not part of the verdict
}

func TestProcessIsTheMeanOfProducts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		diffs := rapid.SliceOfN(rapid.Float64Range(-1, 1), 0, 40).Draw(t, "d")
		var p Process
		products := make([]float64, len(grid))
		for i := range products {
			products[i] = 1
		}
		peak := 1.0
		for _, d := range diffs {
			p.Add(d)
			mean := 0.0
			for i, l := range grid {
				products[i] *= 1 + l*d
				mean += products[i] / float64(len(grid))
			}
			peak = max(peak, mean)
			if math.Abs(p.E()/mean-1) > 1e-9 || math.Abs(p.Max()/peak-1) > 1e-9 {
				t.Fatalf("E %g, max %g, want %g, %g", p.E(), p.Max(), mean, peak)
			}
		}
		if p.N() != len(diffs) {
			t.Fatalf("n %d, want %d", p.N(), len(diffs))
		}
	})
}

func TestZeroDoesNotChangeAProcess(t *testing.T) {
	var p Process
	for _, d := range []float64{0.5, -0.25, 1} {
		p.Add(d)
	}
	e, m := p.E(), p.Max()
	p.Add(0)
	p.Add(nan)
	if p.E() != e || p.Max() != m || p.N() != 4 {
		t.Errorf("E %g, max %g, n %d after a zero and a NaN; want %g, %g, 4", p.E(), p.Max(), p.N(), e, m)
	}
	for range 5000 {
		p.Add(1)
	}
	if p.E() != math.MaxFloat64 {
		t.Errorf("E %g, want the largest number rather than infinity, which JSON has not", p.E())
	}
}

func TestProcessContinuesFromJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		diffs := rapid.SliceOfN(rapid.Float64Range(-1, 1), 0, 20).Draw(t, "d")
		cut := rapid.IntRange(0, len(diffs)).Draw(t, "night")
		var whole, p Process
		for i, d := range diffs {
			if i == cut {
				b, err := json.Marshal(p)
				if err != nil {
					t.Fatal(err)
				}
				p = Process{}
				if err := json.Unmarshal(b, &p); err != nil {
					t.Fatal(err)
				}
			}
			whole.Add(d)
			p.Add(d)
		}
		if !reflect.DeepEqual(p, whole) {
			t.Fatalf("%+v, want %+v", p, whole)
		}
	})
}

func TestProcessRefusesImpossibleStates(t *testing.T) {
	for _, s := range []string{`[]`, `{"n":-1}`, `{"n":1,"log_max":-1}`,
		`{"n":1,"lambda":[0.5],"log_capital":[]}`, `{"n":1,"lambda":[1],"log_capital":[0]}`} {
		var p Process
		if json.Unmarshal([]byte(s), &p) == nil {
			t.Errorf("read %s without an error", s)
		}
	}
}

// The expectation of a capital is at most 1 under the hypothesis; exactly 1 for
// a fair coin, which can be summed over every sequence.
func TestProcessIsFair(t *testing.T) {
	const n = 10
	total := 0.0
	for seq := range 1 << n {
		var p Process
		for i := range n {
			p.Add(float64(seq>>i&1*2) - 1)
		}
		total += p.E()
	}
	if mean := total / (1 << n); math.Abs(mean-1) > 1e-9 {
		t.Errorf("mean capital %g over all sequences, want 1", mean)
	}
}

func TestLogRatio(t *testing.T) {
	for _, c := range []struct{ incumbent, challenger, want float64 }{
		{1, 0.5, 0.5}, {1, 2, -0.5}, {1, 1, 0}, {100, 1, 1}, {1, 100, -1},
		{0, 1, nan}, {1, 0, nan}, {nan, 1, nan}, {1, -1, nan}, {math.Inf(1), math.Inf(1), nan},
	} {
		got := LogRatio(c.incumbent, c.challenger)
		if math.IsNaN(got) != math.IsNaN(c.want) || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("LogRatio(%g, %g) = %g, want %g", c.incumbent, c.challenger, got, c.want)
		}
	}
}

// run adds pairs until the trial closes, 500 at most.
func run(pair Pair) Decision {
	t := NewTrial(Config{})
	for t.Cases() < 500 && t.verdict == Undecided {
		t.Add(pair)
	}
	return t.Decide()
}

func TestRoutes(t *testing.T) {
	for _, c := range []struct {
		name    string
		pair    Pair
		verdict Verdict
		route   string
		reason  string
	}{
		{"better", Pair{0.5, 0, 0, 0}, Promote, "quality", "quality +0.50"},
		{"cheaper", Pair{0, 0, 0.5, 0}, Promote, "cost", "cost ×0.50"},
		{"faster", Pair{0, 0.5, nan, 0}, Promote, "latency", "latency ×0.50"},
		{"asked again less", Pair{0, nan, nan, 0.5}, Promote, "retries", "retries -0.50"},
		{"cheaper, worse within the margin", Pair{-0.02, nan, 0.5, nan}, Promote, "cost", "quality is not lower by 0.05"},
		{"better but twice as dear", Pair{0.5, 0, -0.5, 0}, Reject, "cost", "beyond the tolerance"},
		{"better but slower", Pair{0.5, -0.4, 0, 0}, Reject, "latency", "beyond the tolerance"},
		{"worse", Pair{-0.5, 0, 0, -0.5}, Reject, "quality", "the challenger is worse"},
		{"cheaper but worse", Pair{-0.3, nan, 0.5, nan}, Reject, "quality", "the challenger is worse"},
		{"the same", Pair{0, 0, 0, 0}, Reject, "futility", "smallest that matters"},
		{"quality unknown", Pair{nan, 0, 1, 0}, Undecided, "", "quality is missing"},
	} {
		d := run(c.pair)
		if d.Verdict != c.verdict || d.Route != c.route || !strings.Contains(d.Reason, c.reason) {
			t.Errorf("%s: %s by %q: %s", c.name, d.Verdict, d.Route, d.Reason)
		}
		if d.Verdict != Undecided && d.EValue*d.Alpha < 1-1e-9 {
			t.Errorf("%s: e = %g is not decisive at %g", c.name, d.EValue, d.Alpha)
		}
	}
}

// A gain in quality alone does not promote while the cost is not yet shown to
// be within its tolerance, and the reason names what is missing.
func TestToleranceHoldsBack(t *testing.T) {
	trial := NewTrial(Config{})
	for range 20 {
		trial.Add(Pair{1, nan, 0, 1})
	}
	d := trial.Decide()
	if d.Verdict != Undecided || d.EValue < 25 || !strings.Contains(d.Reason, "within tolerance: cost") {
		t.Errorf("%s, e = %g: %s", d.Verdict, d.EValue, d.Reason)
	}
}

func TestWarnings(t *testing.T) {
	trial := NewTrial(Config{})
	trial.Add(Pair{0, 0, nan, 0})
	trial.Add(Pair{0, nan, nan, 0})
	d := trial.Decide()
	want := []string{"latency is missing in 1 of 2 cases", "cost was never measured and is not part of the verdict"}
	if !reflect.DeepEqual(d.Warnings, want) {
		t.Errorf("warnings %q, want %q", d.Warnings, want)
	}
	if d := NewTrial(Config{}).Decide(); d.Reason != "no case was compared yet" || d.Warnings != nil {
		t.Errorf("empty trial: %q, warnings %q", d.Reason, d.Warnings)
	}
}

// TestTrialContinues cuts a trial at any night, sends it through JSON, and
// looks at it as often as it likes: nothing changes.
func TestTrialContinues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		w := world{old: 0.4, new: rapid.SampledFrom([]float64{0.1, 0.4, 0.9}).Draw(t, "new"),
			costRatio: rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "cost")}
		n := rapid.IntRange(1, 60).Draw(t, "n")
		cut := rapid.IntRange(0, n-1).Draw(t, "night")
		whole, parts := NewTrial(Config{}), NewTrial(Config{})
		var closed *Decision
		for i := range n {
			if i == cut {
				b, err := json.Marshal(parts)
				if err != nil {
					t.Fatal(err)
				}
				parts = new(Trial)
				if err := json.Unmarshal(b, parts); err != nil {
					t.Fatal(err)
				}
			}
			p := w.pair(rng)
			whole.Add(p)
			parts.Add(p)
			d := parts.Decide()
			if closed != nil && !reflect.DeepEqual(d, *closed) {
				t.Fatalf("%+v after the verdict %+v", d, *closed)
			}
			if closed == nil && d.Verdict != Undecided {
				closed = &d
			}
		}
		if a, b := whole.Decide(), parts.Decide(); !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v, want %+v", b, a)
		}
		if _, err := json.Marshal(whole.Decide()); err != nil {
			t.Fatal(err)
		}
	})
}

// Stored trials are the evidence of nights gone by: version 1 must be readable
// for good.
func TestTrialVersion1(t *testing.T) {
	const stored = `{"version":1,"config":{"quality":{"alpha":0.04,"tolerance":0.05,"gain":0.05},
		"latency":{"alpha":0.003,"tolerance":0.16,"gain":0.08},"cost":{"alpha":0.003,"tolerance":0.16,"gain":0.08},
		"retries":{"alpha":0.003,"tolerance":0.05,"gain":0.05},"tolerance_alpha":0.05,"futility_alpha":0.05},
		"pairs":[[1,null,0.25,1],[0,null,null,0]],"verdict":"undecided"}`
	var trial Trial
	if err := json.Unmarshal([]byte(stored), &trial); err != nil {
		t.Fatal(err)
	}
	d := trial.Decide()
	if d.Cases != 2 || d.Wins != 1 || d.Ties != 1 || math.Abs(d.EValue-1.53) > 1e-9 || d.PerObjective[Cost].Estimate.N != 1 {
		t.Errorf("read %+v", d)
	}
}

func TestTrialRefusesWhatItDoesNotKnow(t *testing.T) {
	good, err := json.Marshal(NewTrial(Config{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range [][2]string{
		{`"version":1`, `"version":2`}, {`"undecided"`, `"maybe"`}, {`"alpha":0.04`, `"alpha":4`},
		{`"pairs":[]`, `"pairs":[[1,2]]`}, {`"pairs":[]`, `"pairs":["x"]`}, {`"futility_alpha":0.05`, `"futility_alpha":0`},
	} {
		bad := strings.Replace(string(good), edit[0], edit[1], 1)
		if bad == string(good) {
			t.Fatalf("%s is not in %s", edit[0], good)
		}
		if json.Unmarshal([]byte(bad), new(Trial)) == nil {
			t.Errorf("read %s without an error", edit[1])
		}
	}
}

func TestNewTrialPanicsOnNonsense(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic for a level of 0")
		}
	}()
	NewTrial(Config{Quality: Limit{Alpha: 0.04}})
}

func TestWithinScalesTheRoutes(t *testing.T) {
	c := DefaultConfig().Within(0.01)
	if sum := c.Quality.Alpha + c.Latency.Alpha + c.Cost.Alpha + c.Retries.Alpha; math.Abs(sum-0.01) > 1e-12 {
		t.Errorf("levels add up to %g, want 0.01", sum)
	}
	if c.ToleranceAlpha != DefaultConfig().ToleranceAlpha {
		t.Errorf("tolerance level %g changed", c.ToleranceAlpha)
	}
}
