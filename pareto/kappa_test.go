package pareto

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
)

func TestKappa(t *testing.T) {
	for _, c := range []struct {
		in   Agreement
		want float64
	}{
		{Agreement{20, 5, 10, 15}, 0.4},       // worked out in many textbooks
		{Agreement{45, 15, 25, 15}, 0.130435}, // two tables with the same agreement,
		{Agreement{25, 35, 5, 35}, 0.259259},  // and different shares of passes
		{Agreement{10, 0, 0, 10}, 1},
		{Agreement{0, 10, 10, 0}, -1},
		{Agreement{5, 5, 5, 5}, 0},
		{Agreement{10, 0, 10, 0}, 0}, // a judge that passes everything
	} {
		k := Kappa(c.in)
		if math.Abs(k.Value-c.want) > 1e-6 || k.N != c.in.N() {
			t.Errorf("%+v: κ %g on %d, want %g", c.in, k.Value, k.N, c.want)
		}
		if !(k.Low <= k.Value && k.Value <= k.High) || k.Low < -1 || k.High > 1 || k.High-k.Low < 0.05 {
			t.Errorf("%+v: interval %g to %g around %g", c.in, k.Low, k.High, k.Value)
		}
	}
	for _, none := range []Agreement{{}, {BothPass: 30}, {BothFail: 30}} {
		k := Kappa(none)
		if !math.IsNaN(k.Value) || k.Low != -1 || k.High != 1 {
			t.Errorf("%+v: %+v, want no κ", none, k)
		}
		if b, err := json.Marshal(k); err != nil || json.Unmarshal(b, &map[string]any{}) != nil {
			t.Errorf("%+v: JSON %s, %v", none, b, err)
		}
	}
}

// TestKappaError holds the formula against the delta method, with the gradient
// taken numerically: Var κ = (Σ p g² − (Σ p g)²)/n.
func TestKappaError(t *testing.T) {
	for _, n := range [][2][2]float64{{{20, 5}, {10, 15}}, {{45, 15}, {25, 15}}, {{3, 9}, {1, 7}}} {
		total := n[0][0] + n[0][1] + n[1][0] + n[1][1]
		at := func(i, j int, h float64) float64 {
			m := n
			m[i][j] += h * total
			// Shares off the simplex: κ as a function of the four cells, each
			// over the old total.
			var row, col [2]float64
			for i := range m {
				for j := range m[i] {
					row[i] += m[i][j] / total
					col[j] += m[i][j] / total
				}
			}
			chance := row[0]*col[0] + row[1]*col[1]
			return ((m[0][0]+m[1][1])/total - chance) / (1 - chance)
		}
		const h = 1e-6
		var mean, square float64
		for i := range n {
			for j := range n[i] {
				g := (at(i, j, h) - at(i, j, -h)) / (2 * h)
				mean += n[i][j] / total * g
				square += n[i][j] / total * g * g
			}
		}
		want := math.Sqrt((square - mean*mean) / total)
		if _, se := kappaOf(n); math.Abs(se-want) > 1e-6 {
			t.Errorf("%v: standard error %g, want %g", n, se, want)
		}
	}
}

// TestKappaCovers measures the interval under the conditions of its use:
// balanced labels, a judge that is right on a share of them.
func TestKappaCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{20, 40} {
		for _, right := range []float64{0.5, 0.7, 0.8, 0.9, 0.97} {
			const runs = 4000
			truth, held := 2*right-1, 0
			for range runs {
				var a Agreement
				for i := range n {
					owner := i%2 == 0
					a.Add(owner, owner == (rng.Float64() < right))
				}
				if k := Kappa(a); k.Low <= truth && truth <= k.High {
					held++
				}
			}
			if share := float64(held) / runs; share < 0.93 {
				t.Errorf("n %d, κ %.2f: the 95 %% interval held it in %.1f%% of runs", n, truth, 100*share)
			} else {
				t.Logf("n %d, κ %.2f: %.1f%%", n, truth, 100*share)
			}
		}
	}
}
