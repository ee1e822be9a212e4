package pareto

import (
	"math"
	"testing"
)

func TestShareAtLeast(t *testing.T) {
	for _, c := range []struct {
		k, n int
		want float64 // of the literature's tables of exact limits
	}{
		{0, 20, 0},
		{20, 20, math.Pow(0.05, 1.0/20)}, // .8609: all are hits
		{1, 1, 0.05},
		{1, 20, 1 - math.Pow(0.95, 1.0/20)}, // 1 of n: the chance of none is 1-α
	} {
		if got := ShareAtLeast(c.k, c.n, 0.95); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d of %d: %g, want %g", c.k, c.n, got, c.want)
		}
	}
	if !math.IsNaN(ShareAtLeast(0, 0, 0.95)) {
		t.Error("a bound without draws")
	}
	// What defines it: at the bound, k hits or more have probability 1-level.
	for _, n := range []int{20, 40, 60} {
		for k := 1; k <= n; k++ {
			p, tail := ShareAtLeast(k, n, 0.95), 0.0
			for i := k; i <= n; i++ {
				lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
				tail += math.Exp(lg(n) - lg(i) - lg(n-i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
			}
			if math.Abs(tail-0.05) > 1e-6 {
				t.Errorf("%d of %d: %g hits or more have probability %g, want 0.05", k, n, p, tail)
			}
		}
	}
}

func TestShareAtMost(t *testing.T) {
	for _, c := range []struct {
		k, n int
		want float64
	}{{0, 68, 1 - math.Pow(0.05, 1.0/68)}, {0, 1, 0.95}, {5, 5, 1}, {19, 20, math.Pow(0.95, 1.0/20)}} {
		if got := ShareAtMost(c.k, c.n, 0.95); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d of %d: %g, want %g", c.k, c.n, got, c.want)
		}
	}
	if !math.IsNaN(ShareAtMost(0, 0, 0.95)) {
		t.Error("a bound without draws")
	}
}
