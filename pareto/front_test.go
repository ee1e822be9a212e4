package pareto

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func ExampleFront() {
	points := []Point{
		{ID: "cheap", Values: []float64{0.6, -1}}, // quality, negated cost
		{ID: "good", Values: []float64{0.9, -3}},
		{ID: "worse", Values: []float64{0.6, -2}},
		{ID: "noise", Values: []float64{0.905, -3}}, // better by less than ε
	}
	for _, i := range Front(points, []float64{0.02, 0.1}) {
		fmt.Println(points[i].ID)
	}
	// Output:
	// cheap
	// good
	// noise
}

func drawPoint(t *rapid.T, dims int, unknown bool) Point {
	values := []float64{0, 1, 2, 3}
	if unknown {
		values = append(values, math.NaN())
	}
	p := Point{Values: make([]float64, dims)}
	for d := range p.Values {
		p.Values[d] = rapid.SampledFrom(values).Draw(t, "value")
	}
	return p
}

func TestDominanceIsAnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dims := rapid.IntRange(1, 4).Draw(t, "dims")
		unknown := rapid.Bool().Draw(t, "unknown")
		eps := rapid.SampledFrom([][]float64{nil, {0.5}, {1, 1, 1, 1}}).Draw(t, "eps")
		a, b, c := drawPoint(t, dims, unknown), drawPoint(t, dims, unknown), drawPoint(t, dims, unknown)
		if Dominates(a, a, eps) {
			t.Fatalf("%v dominates itself", a)
		}
		if Dominates(a, b, eps) && Dominates(b, a, eps) {
			t.Fatalf("%v and %v dominate each other", a, b)
		}
		if !unknown && Dominates(a, b, eps) && Dominates(b, c, eps) && !Dominates(a, c, eps) {
			t.Fatalf("%v over %v over %v, but not the first over the last", a, b, c)
		}
	})
}

func TestFrontProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unknown := rapid.Bool().Draw(t, "unknown")
		points := make([]Point, rapid.IntRange(1, 12).Draw(t, "n"))
		for i := range points {
			points[i] = drawPoint(t, 3, unknown)
		}
		front := Front(points, nil)
		if len(front) == 0 || !slices.IsSorted(front) {
			t.Fatalf("front %v of %v", front, points)
		}
		if !unknown {
			for i := range points {
				dominated := slices.ContainsFunc(points, func(p Point) bool { return Dominates(p, points[i], nil) })
				if dominated == slices.Contains(front, i) {
					t.Fatalf("point %d: dominated %v, front %v", i, dominated, front)
				}
			}
		}
		if k := Knee(points); !slices.Contains(front, k) {
			t.Fatalf("knee %d is not on the front %v", k, front)
		}
	})
}

func TestFrontOfACircle(t *testing.T) {
	nan := math.NaN()
	points := []Point{
		{Values: []float64{1, nan, 0}},
		{Values: []float64{0, 1, nan}},
		{Values: []float64{nan, 0, 1}},
		{Values: []float64{-1, -1, -1}},
	}
	if got := Front(points, nil); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("front %v, want the circle [0 1 2] without the point below it", got)
	}
}

func TestKneeIsTheBulge(t *testing.T) {
	points := []Point{
		{Values: []float64{0, 10, 0}}, {Values: []float64{0.9, 8, 0}}, {Values: []float64{1, 0, 0}},
		{Values: []float64{0.5, math.NaN(), 1}},
	}
	if got := Knee(points[:3]); got != 1 {
		t.Errorf("knee %d, want 1", got)
	}
	if got := Knee(points); got != 1 {
		t.Errorf("knee %d, want 1: an unknown cost is no merit", got)
	}
	if got := Knee(nil); got != -1 {
		t.Errorf("knee of nothing %d, want -1", got)
	}
}

func TestHypervolumeByHand(t *testing.T) {
	for _, c := range []struct {
		points [][]float64
		ref    []float64
		want   float64
	}{
		{nil, []float64{0, 0}, 0},
		{[][]float64{{3}, {2}}, []float64{1}, 2},
		{[][]float64{{1, 3}, {2, 2}, {3, 1}}, []float64{0, 0}, 6},
		{[][]float64{{1, 3}, {2, math.NaN()}, {-1, 9}}, []float64{0, 0}, 3},
		{[][]float64{{1, 1, 2}, {1, 2, 1}, {2, 1, 1}}, []float64{0, 0, 0}, 4},
		{[][]float64{{1, 1, 1, 2}, {2, 1, 1, 1}}, []float64{0, 0, 0, 0}, 3},
	} {
		var points []Point
		for _, v := range c.points {
			points = append(points, Point{Values: v})
		}
		if got := Hypervolume(points, c.ref); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("Hypervolume(%v, %v) = %g, want %g", c.points, c.ref, got, c.want)
		}
	}
}

// On a small lattice the volume is the number of unit cells that some point
// covers.
func TestHypervolumeCountsCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dims := rapid.IntRange(1, 4).Draw(t, "dims")
		points := make([]Point, rapid.IntRange(0, 8).Draw(t, "n"))
		for i := range points {
			points[i] = drawPoint(t, dims, false)
		}
		cells, at := 0, make([]int, dims)
		for code := range 1 << (2 * dims) { // 4 values a coordinate
			for d := range at {
				at[d] = code >> (2 * d) & 3
			}
			if slices.ContainsFunc(points, func(p Point) bool {
				for d := range at {
					if p.Values[d] < float64(at[d]+1) {
						return false
					}
				}
				return true
			}) {
				cells++
			}
		}
		if got := Hypervolume(points, make([]float64, dims)); math.Abs(got-float64(cells)) > 1e-9 {
			t.Fatalf("volume %g of %v, want %d", got, points, cells)
		}
	})
}

func BenchmarkHypervolume4D(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 11))
	points := make([]Point, 100)
	for i := range points {
		points[i].Values = []float64{rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64()}
	}
	for b.Loop() {
		Hypervolume(points, []float64{0, 0, 0, 0})
	}
}
