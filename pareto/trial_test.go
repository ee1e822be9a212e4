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

// pairOf is a pair of that quality, latency, cost and retries, the cost in dollars.
func pairOf(quality, latency, cost, retries float64) Pair {
	p := Pair{Quality: quality, Latency: latency, Cost: cost, Retries: retries}
	if !math.IsNaN(cost) {
		p.Bill.USD = [2]float64{1, Times(cost)}
	}
	return p
}

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
	// quality +1.00 (92 % interval +0.05 to +1.00) over 7 requests it never saw, expect about +0.91: at most 1 time in 33 by chance, and nothing else is worse than its tolerance
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
		{1, 0.25, 0.5}, {1, 4, -0.5}, {1, 1, 0}, {100, 1, 1}, {1, 100, -1},
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
		{"better", pairOf(0.5, 0, 0, 0), Promote, "quality", "quality +0.50"},
		{"cheaper", pairOf(0, 0, 0.5, 0), Promote, "cost", "cost ×0.25"},
		{"faster", pairOf(0, 0.5, nan, 0), Promote, "latency", "latency ×0.25"},
		{"asked again less", pairOf(0, nan, nan, 0.5), Promote, "retries", "retries -0.50"},
		{"cheaper, worse within the margin", pairOf(-0.02, nan, 0.5, nan), Promote, "cost", "quality is not lower by 0.05"},
		{"better but twice as dear", pairOf(0.5, 0, -0.5, 0), Reject, "cost", "beyond the tolerance"},
		{"better but slower", pairOf(0.5, -0.4, 0, 0), Reject, "latency", "beyond the tolerance"},
		{"worse", pairOf(-1, 0, 0, -1), Reject, "quality", "the new text is worse"},
		{"half worse", pairOf(-0.5, 0, 0, -0.5), Reject, "dropped", "the chance of a gain that matters"},
		{"cheaper but worse", pairOf(-0.3, nan, 0.5, nan), Reject, "quality", "the new text is worse"},
		{"the same", pairOf(0, 0, 0, 0), Reject, "dropped", "the chance of a gain that matters"},
		{"dearer, in tokens", Pair{Quality: 0.5, Cost: -0.5, Bill: Bill{Tokens: [2]float64{1000, 4000}}}, Promote, "quality", "quality +0.50"},
		{"dearer by a trifle", Pair{Quality: 0.5, Cost: -0.5, Bill: Bill{USD: [2]float64{0.0001, 0.0004}}}, Promote, "quality", "quality +0.50"},
		{"cheaper, but for the sum", Pair{Cost: 0.5, Bill: Bill{USD: [2]float64{1, 2}}}, Undecided, "", "quality +0.00"},

		{"quality unknown", pairOf(nan, 0, 1, 0), Undecided, "", "quality is missing"},
	} {
		d := run(c.pair)
		if d.Verdict != c.verdict || d.Route != c.route || !strings.Contains(d.Reason, c.reason) {
			t.Errorf("%s: %s by %q: %s", c.name, d.Verdict, d.Route, d.Reason)
		}
		if !d.Verdict.IsOpen() && d.Route != "dropped" && d.EValue*d.Alpha < 1-1e-9 {
			t.Errorf("%s: e = %g is not decisive at %g", c.name, d.EValue, d.Alpha)
		}
	}
}

// A gain in quality does not promote while the mean cost is beyond its tolerance,
// the reason says so, and it does once the mean is within.
func TestToleranceHoldsBack(t *testing.T) {
	trial := NewTrial(Config{})
	trial.Add(pairOf(1, nan, -1, 1))
	for range 9 {
		trial.Add(pairOf(1, nan, 0, 1))
	}
	d := trial.Decide()
	if d.Verdict != Promising || d.EValue < 25 || !d.PerObjective[Cost].Beyond || !strings.Contains(d.Reason, "held back by cost ×1.32") || fmt.Sprint(trial.Outstanding()) != "[cost]" {
		t.Errorf("%s, e = %g: %s", d.Verdict, d.EValue, d.Reason)
	}
	for range 5 {
		trial.Add(pairOf(0, nan, 0, 0))
	}
	if d := trial.Decide(); d.Verdict != Promote || d.Cases != 13 || trial.Outstanding() != nil {
		t.Errorf("%s after %d: %s", d.Verdict, d.Cases, d.Reason)
	}
	// What is told of quality is the interval at the pair that proved it, beside the present one.
	if q := trial.Decide().PerObjective[Quality]; q.Proved == nil || q.Proved.N != 7 || !(q.Proved.Low > 0) || q.Estimate.N != 13 {
		t.Errorf("%+v, proved %+v", q.Estimate, q.Proved)
	}
}

// Weights turn the pairs into a sample of all uses: what is rare among the pairs
// and common among uses counts more, in the evidence, the mean and the interval.
func TestWeights(t *testing.T) {
	trial := NewTrial(Config{})
	for range 6 { // failures that the text mends weigh a third, successes that it breaks five thirds
		trial.Add(Pair{Quality: 1, Weight: 1. / 3, Largest: 5. / 3})
		trial.Add(Pair{Quality: -0.2, Weight: 5. / 3, Largest: 5. / 3})
	}
	d := trial.Decide()
	if q := d.PerObjective[Quality].Estimate; math.Abs(q.Mean) > 1e-12 || q.Low > -0.1 || q.High < 0.1 || d.EValue > 1.3 {
		t.Errorf("%+v, e = %g", q, d.EValue)
	}
	var s Strata
	for i := range 30 { // a third of uses is corrected and always a case, of the others one in four
		stratum := []string{"corrected", "silent", "silent"}[i%3]
		s.Use(stratum)
		if stratum == "corrected" || i%12 == 1 {
			s.Case(stratum)
		}
	}
	corrected, most := s.Weight("corrected")
	silent, _ := s.Weight("silent")
	if math.Abs(corrected-0.44) > 0.02 || math.Abs(silent-2.44) > 0.4 || most != silent {
		t.Errorf("weights %g and %g, the largest %g", corrected, silent, most)
	}
}

// The gain that is told is less than the mean, which boasts.
func TestGainIsShrunken(t *testing.T) {
	trial := NewTrial(Config{})
	for range 7 {
		trial.Add(pairOf(1, nan, nan, 1))
	}
	if d := trial.Decide(); d.Verdict != Promote || d.Gain < 0.5 || d.Gain > 0.95 || d.Hope < 0.99 {
		t.Errorf("%s: gain %g, hope %g", d.Verdict, d.Gain, d.Hope)
	}
}

func TestWarnings(t *testing.T) {
	trial := NewTrial(Config{})
	trial.Add(pairOf(0, 0, nan, 0))
	trial.Add(pairOf(0, nan, nan, 0))
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
		draw := World{Failures: 0.6, Gain: rapid.SampledFrom([]float64{-0.3, 0, 0.5}).Draw(t, "gain"), Noise: rapid.SampledFrom([]float64{-1, 0.5}).Draw(t, "noise"),
			Times: rapid.SampledFrom([]float64{0.5, 1, 2}).Draw(t, "cost")}.pairs(rng)
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
			p := draw()
			p.Weight, p.Largest = 0.5+rng.Float64(), 1.5
			whole.Add(p)
			parts.Add(p)
			d := parts.Decide()
			if closed != nil && !reflect.DeepEqual(d, *closed) {
				t.Fatalf("%+v after the verdict %+v", d, *closed)
			}
			if closed == nil && !d.Verdict.IsOpen() {
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
	if !trial.Outdated() || d.Cases != 2 || d.Wins != 1 || d.Ties != 1 || math.Abs(d.EValue-1.53) > 1e-9 || d.PerObjective[Cost].Estimate.N != 1 {
		t.Errorf("read %+v", d)
	}
}

func TestTrialRefusesWhatItDoesNotKnow(t *testing.T) {
	good, err := json.Marshal(NewTrial(Config{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range [][2]string{
		{`"version":2`, `"version":3`}, {`"undecided"`, `"maybe"`}, {`"alpha":0.04`, `"alpha":4`},
		{`"pairs":[]`, `"pairs":[[1,2]]`}, {`"pairs":[]`, `"pairs":["x"]`}, {`"guard_alpha":0.05`, `"guard_alpha":0`},
		{`"pairs":[]`, `"pairs":[{"d":[1,0,0,0],"w":[2,1]}]`}, {`"pairs":[]`, `"pairs":[{"d":[1,0,0]}]`},
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
	if d := DefaultConfig(); math.Abs(c.ToleranceAlpha-d.ToleranceAlpha/5) > 1e-12 || c.GuardAlpha != d.GuardAlpha {
		t.Errorf("tolerance level %g, guard level %g", c.ToleranceAlpha, c.GuardAlpha)
	}
}
