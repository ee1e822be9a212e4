package pareto

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func ExampleCompare() {
	var d []float64
	for range 15 {
		d = append(d, 1, 0, 0, 1, 0, -1)
	}
	e := Compare(d, 0.95)
	fmt.Printf("%+.2f (%+.2f to %+.2f), n = %d, %d won, %d lost\n", e.Mean, e.Low, e.High, e.N, e.Wins, e.Losses)
	// Output:
	// +0.17 (-0.06 to +0.38), n = 90, 30 won, 15 lost
}

func TestIntervalProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-1, 1), rapid.SampledFrom([]float64{-1, 0, 1})), 0, 40).Draw(t, "d")
		e := Compare(d, 0.95)
		if !(-1 <= e.Low && e.Low <= e.Mean && e.Mean <= e.High && e.High <= 1) {
			t.Fatalf("%g in [%g, %g]", e.Mean, e.Low, e.High)
		}
		if e.N != len(d) || e.Wins+e.Losses+e.Ties != len(d) {
			t.Fatalf("%+v of %d differences", e, len(d))
		}
		if wide := Compare(d, 0.99); wide.Low > e.Low || wide.High < e.High {
			t.Fatalf("99%% [%g, %g] is inside 95%% [%g, %g]", wide.Low, wide.High, e.Low, e.High)
		}
		negated := make([]float64, len(d))
		for i := range d {
			negated[len(d)-1-i] = -d[i] // backwards: order must not matter
		}
		if m := Compare(negated, 0.95); math.Abs(m.Low+e.High) > 1e-9 || math.Abs(m.High+e.Low) > 1e-9 {
			t.Fatalf("[%g, %g] negated is [%g, %g]", e.Low, e.High, m.Low, m.High)
		}
		// The interval and the process agree: 0 is left out when the process
		// against 0 reaches 1/0.025.
		var p Process
		for _, x := range d {
			p.Add(x)
		}
		if gap := p.E()*0.025 - 1; math.Abs(gap) > 1e-6 && (gap > 0) != (e.Low > 0) && math.Abs(e.Low) > 1e-9 {
			t.Fatalf("E %g, low %g", p.E(), e.Low)
		}
	})
}

func TestCompareSaysWhatItDropped(t *testing.T) {
	e := Compare([]float64{nan, 2, -0.5}, 7)
	want := []string{"only 2 pairs", "1 pairs are missing a value", "1 differences outside [-1, 1] were clipped"}
	if !slices.Equal(e.Warnings, want) || e.Mean != 0.25 || e.Level != 0.95 {
		t.Errorf("%+v, want warnings %q", e, want)
	}
	if e := Compare(nil, 0.95); e.Mean != 0 || e.Low != -1 || e.High != 1 {
		t.Errorf("nothing compared: %+v, want 0 in [-1, 1]", e)
	}
}

// TestCoverage stops at the worst of many looks: the interval must hold the
// true mean at all of them at once.
func TestCoverage(t *testing.T) {
	for _, c := range []struct {
		name string
		mean float64
		draw func(*rand.Rand) float64
	}{
		{"passes", 0.1, func(r *rand.Rand) float64 {
			if x := r.Float64(); x < 0.24 {
				return 1
			} else if x < 0.38 {
				return -1
			}
			return 0
		}},
		{"graded", 0, func(r *rand.Rand) float64 { return 2*r.Float64() - 1 }},
		{"skewed", 0, func(r *rand.Rand) float64 {
			if r.Float64() < 0.1 {
				return -0.9
			}
			return 0.1
		}},
	} {
		const reps = 300
		missed := 0
		for i := range reps {
			rng := rand.New(rand.NewPCG(5, uint64(i)))
			var d []float64
			for _, n := range []int{5, 10, 20, 40, 80, 160} {
				for len(d) < n {
					d = append(d, c.draw(rng))
				}
				if e := Compare(d, 0.90); c.mean < e.Low || c.mean > e.High {
					missed++
					break
				}
			}
		}
		share := float64(missed) / reps
		t.Logf("%s: missed in %.3f of %d", c.name, share, reps)
		if share > 0.10 {
			t.Errorf("%s: a 90 %% interval missed in %.3f", c.name, share)
		}
	}
}

// Forecast is checked against trials as they are run, with another seed.
func TestForecastAgreesWithTrials(t *testing.T) {
	for _, c := range []struct{ old, new float64 }{{0.3, 0.95}, {0.55, 0.85}, {0.6, 0.8}} {
		w := World{Failures: 1 - c.old, Gain: c.new - c.old, Replays: 3}
		cases50, cases80 := Forecast(w, Config{})
		t.Logf("%s: %d, %d", w, cases50, cases80)
		draw := w.pairs(rand.New(rand.NewPCG(3, 0)))
		for share, cases := range map[float64]int{0.5: cases50, 0.8: cases80} {
			if got, _ := trials(draw, rule(w.Failures), cases, 300); math.Abs(got[Promote]-share) > 0.12 {
				t.Errorf("%s: %.2f promoted by %d, forecast said %g", w, got[Promote], cases, share)
			}
		}
	}
}

func TestForecastOfNothing(t *testing.T) {
	for _, gain := range []float64{0, -0.1, 0.005, nan} {
		if a, b := Forecast(World{Failures: 0.3, Gain: gain}, Config{}); a != 0 || b != 0 {
			t.Errorf("a gain of %g is forecast in %d and %d cases, want 0, 0", gain, a, b)
		}
	}
	one, oneB := Forecast(World{Failures: 0.3, Gain: 0.1}, Config{})
	three, threeB := Forecast(World{Failures: 0.3, Gain: 0.1, Replays: 3}, Config{})
	if one < 60 || oneB != 0 && oneB < one || three >= one || three == 0 || threeB < three {
		t.Errorf("ten points: %d and %d cases with one replay, %d and %d with three", one, oneB, three, threeB)
	}
}

func BenchmarkForecast(b *testing.B) {
	for _, gain := range []float64{0.3, 0.01} {
		b.Run(fmt.Sprint(gain), func(b *testing.B) {
			for b.Loop() {
				Forecast(World{Failures: 0.3, Gain: gain, Replays: 3}, Config{})
			}
		})
	}
}

func TestLONDLevels(t *testing.T) {
	l := LOND{Alpha: 0.1}
	if got := l.Level(1); math.Abs(got-0.05) > 1e-15 {
		t.Errorf("first level %g, want 0.05", got)
	}
	for i, e := range []float64{19.9, 61, 61, nan, 99} { // levels 1/20, 1/60, 2/120, 3/200, 3/300
		if got, want := l.Test(e), i == 1 || i == 2; got != want {
			t.Errorf("trial %d: e = %g rejected: %v, want %v", i+1, e, got, want)
		}
	}
	if !reflect.DeepEqual(l.Rejected, []int{2, 3}) || l.Tested != 5 {
		t.Errorf("state %+v", l)
	}
	if got := l.Level(3); math.Abs(got-0.1/12*2) > 1e-15 {
		t.Errorf("level 3 is %g: it must not count its own rejection", got)
	}
	total := 0.0
	for i := range 5000 {
		total += (&LOND{Alpha: 0.1}).Level(i + 1)
	}
	if total > 0.1 || total < 0.0999 {
		t.Errorf("levels without rejections add up to %g, want 0.1", total)
	}
	b, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	var back LOND
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back, l) {
		t.Errorf("%+v from %s (%v), want %+v", back, b, err, l)
	}
}

// TestShrinkBeatsTheMeans: closer to the truth over all candidates, and the
// winner's own figure no longer too good.
func TestShrinkBeatsTheMeans(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	var rawError, shrunkError, rawBoast, shrunkBoast float64
	const rounds, k, noise = 500, 12, 0.21
	for range rounds {
		truth, means, counts := make([]float64, k), make([]float64, k), make([]int, k)
		for i := range truth {
			truth[i] = 0.7 + 0.06*rng.NormFloat64()
			counts[i] = 10 + rng.IntN(30)
			means[i] = truth[i] + math.Sqrt(noise/float64(counts[i]))*rng.NormFloat64()
		}
		shrunk := Shrink(means, counts, noise)
		for i := range truth {
			rawError += (means[i] - truth[i]) * (means[i] - truth[i])
			shrunkError += (shrunk[i] - truth[i]) * (shrunk[i] - truth[i])
		}
		raw, fair := argmax(means), argmax(shrunk)
		rawBoast += (means[raw] - truth[raw]) / rounds
		shrunkBoast += (shrunk[fair] - truth[fair]) / rounds
	}
	t.Logf("squared error %.4f → %.4f, winner too good by %.3f → %.3f",
		rawError/rounds/k, shrunkError/rounds/k, rawBoast, shrunkBoast)
	if shrunkError > 0.7*rawError {
		t.Errorf("squared error %g, want well below %g", shrunkError, rawError)
	}
	if math.Abs(shrunkBoast) > 0.3*rawBoast {
		t.Errorf("the winner is too good by %g, want well below %g", shrunkBoast, rawBoast)
	}
}

func argmax(x []float64) int {
	best := 0
	for i := range x {
		if x[i] > x[best] {
			best = i
		}
	}
	return best
}

func TestShrinkLimits(t *testing.T) {
	for _, c := range []struct {
		name   string
		means  []float64
		counts []int
		noise  float64
		want   []float64
	}{
		{"one", []float64{0.9}, []int{3}, 0.2, []float64{0.9}},
		{"no noise", []float64{0.2, 0.8}, []int{1, 9}, 0, []float64{0.2, 0.8}},
		{"all noise", []float64{0.4, 0.6}, []int{1, 3}, 1, []float64{0.55, 0.55}},
		{"unmeasured", []float64{0.4, nan, 0.6, 7}, []int{2, 0, 2, 0}, 1, []float64{0.5, 0.5, 0.5, 0.5}},
		{"half", []float64{0, 1}, []int{1, 1}, 0.25, []float64{0.25, 0.75}},
	} {
		got := Shrink(c.means, c.counts, c.noise)
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-12 {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
				break
			}
		}
	}
	if got := Shrink([]float64{nan}, []int{0}, 1); !math.IsNaN(got[0]) {
		t.Errorf("nothing measured: %v, want NaN", got)
	}
}
