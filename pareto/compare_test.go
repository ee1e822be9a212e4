package pareto

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// TestLowestIsThatOfBisection: what is known to be refuted, or not to be, spares steps
// and changes no bit.
func TestLowestIsThatOfBisection(t *testing.T) {
	plain := func(d []float64, mean, limit float64) float64 {
		lo, hi := -1.0, mean
		for range 40 {
			mid := lo + (hi-lo)/2
			if mid == lo || mid == hi {
				break
			}
			if capital(d, mid) >= limit {
				lo = mid
			} else {
				hi = mid
			}
		}
		return lo
	}
	rng := rand.New(rand.NewPCG(1, 85))
	for range 1500 {
		d := make([]float64, 1+rng.IntN(60))
		noise, shift, coins := math.Exp(-4*rng.Float64()), 2*rng.Float64()-1, rng.IntN(2) == 0
		for i := range d {
			if d[i] = max(-1, min(1, shift+noise*rng.NormFloat64())); coins {
				d[i] = math.Round(d[i])
			}
		}
		mean := stat.Mean(d, nil)
		limit := -math.Log([]float64{0.4, 0.05, 0.025, 1e-3, 1e-6}[rng.IntN(5)])
		if got, want := lowest(d, mean, limit), plain(d, mean, limit); got != want {
			t.Fatalf("%v at %g: %v, bisection says %v", d, limit, got, want)
		}
	}
}

// TestPlainPair: what is written and read without encoding/json is what that would
// write and read.
func TestPlainPair(t *testing.T) {
	for s, want := range map[string]bool{
		"[0.5,null,-1,0]": true, "[null,null,null,null]": true, "[-0,0.1,1,1]": true,
		"[1e-7,0,0,0]": false, "[0, 0,0,0]": false, "[0,0,0]": false, "[0,0,0,0,0]": false, "[0,0,0,]": false, "[0,0,0,true]": false, "null": false,
		"[,0,0,0]": false, "[0,0,0,0": false, "[0x1,0,0,0]": false, "[1_0,0,0,0]": false, "[-,0,0,0]": false, "[[0],0,0,0]": false,
	} {
		if p, ok := plainPair([]byte(s)); ok != want {
			t.Errorf("%s: %v, %v", s, p, ok)
		}
	}
	rng := rand.New(rand.NewPCG(2, 85))
	for range 1000 {
		p := Pair{rng.NormFloat64(), math.NaN(), float64(rng.IntN(3) - 1), rng.Float64()}
		p.Cost *= math.Exp(float64(rng.IntN(80) - 40))
		b, err := p.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if want, err := json.Marshal([]any{p.Quality, nil, p.Cost, p.Retries}); err != nil || string(b) != string(want) {
			t.Fatalf("%s, want %s: %v", b, want, err)
		}
		back, ok := plainPair(b)
		if ok && (back.Quality != p.Quality || !math.IsNaN(back.Latency) || back.Cost != p.Cost || back.Retries != p.Retries) {
			t.Fatalf("%s: %v", b, back)
		}
	}
}
