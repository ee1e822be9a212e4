package pareto

import "math"

// A Point is one candidate's objectives. Every coordinate is oriented so that
// larger is better (negate cost, latency and retries). NaN is unknown; so are
// the coordinates that a shorter point does not have.
type Point struct {
	ID     string
	Values []float64
}

// Dominates reports whether a ε-dominates b: over the coordinates that both
// know, a is never below b, and above it by more than eps in at least one.
// eps[i] is the noise of coordinate i in its own unit; missing entries (or a
// nil slice) are 0.
//
// ε applies to gains only. If a were also allowed to be worse by ε, two
// points that trade noise in one coordinate against a gain in another could
// dominate each other. Without that, the relation is irreflexive and
// antisymmetric, and it is transitive if every coordinate is known. Unknown
// coordinates do not decide, and so can break transitivity; see Front.
func Dominates(a, b Point, eps []float64) bool {
	gained := false
	for i := range min(len(a.Values), len(b.Values)) {
		x, y := a.Values[i], b.Values[i]
		if x < y { // false if either is NaN
			return false
		}
		e := 0.0
		if i < len(eps) {
			e = eps[i]
		}
		if x-y > e {
			gained = true
		}
	}
	return gained
}

// Front returns the indices of the points that no other point dominates, in
// ascending order. Identical points are on the front together.
//
// Points with unknown coordinates can dominate each other in a circle (a
// beats b on cost, b beats c on latency, c beats a on quality, the rest
// unknown). Nothing decides within such a circle, so its members are on the
// front together or not at all: a point is off the front if some point
// reaches it over a chain of dominations that cannot be followed back.
// Without circles this is the usual front. The front of at least one point is
// never empty.
func Front(points []Point, eps []float64) []int {
	n := len(points)
	beats := make([][]int, n)
	beaten := make([]bool, n)
	circles := false
	for i := range points {
		circles = circles || incomplete(points[i], len(points[0].Values))
		for j := range points {
			if i != j && Dominates(points[i], points[j], eps) {
				beats[i] = append(beats[i], j)
				beaten[j] = true
			}
		}
	}
	if circles {
		beaten = beatenForGood(beats)
	}
	var front []int
	for i := range points {
		if !beaten[i] {
			front = append(front, i)
		}
	}
	return front
}

// incomplete reports whether p has unknown coordinates among dims.
func incomplete(p Point, dims int) bool {
	for _, v := range p.Values {
		if math.IsNaN(v) {
			return true
		}
	}
	return len(p.Values) != dims
}

// beatenForGood marks the nodes that some node reaches without being reached
// from them.
func beatenForGood(beats [][]int) []bool {
	n := len(beats)
	reach := make([][]bool, n)
	for i := range beats {
		reach[i] = make([]bool, n)
		todo := append([]int(nil), beats[i]...)
		for len(todo) > 0 {
			j := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if reach[i][j] {
				continue
			}
			reach[i][j] = true
			todo = append(todo, beats[j]...)
		}
	}
	beaten := make([]bool, n)
	for i := range reach {
		for j := range reach {
			if reach[i][j] && !reach[j][i] {
				beaten[j] = true
			}
		}
	}
	return beaten
}

// Knee returns the index of the point on the front that is the best compromise:
// the one that bulges furthest out of the plane through the extremes once every
// objective is scaled to [0,1] over the front, which is the one with the
// largest sum of scaled values (Das 1999, "On characterizing the knee of the
// Pareto curve based on normal-boundary intersection"). An unknown coordinate
// counts as the worst on the front, so that nothing is chosen for what was not
// measured. The lowest index breaks ties; -1 means no points.
func Knee(points []Point) int {
	front := Front(points, nil)
	if len(front) == 0 {
		return -1
	}
	dims := 0
	for _, i := range front {
		dims = max(dims, len(points[i].Values))
	}
	sums := make([]float64, len(front))
	for d := range dims {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, i := range front {
			if v := points[i].at(d); !math.IsNaN(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
		if !(hi > lo) {
			continue // all equal or all unknown: nothing to choose by
		}
		for k, i := range front {
			if v := points[i].at(d); !math.IsNaN(v) {
				sums[k] += (v - lo) / (hi - lo)
			}
		}
	}
	best := 0
	for k := range sums {
		if sums[k] > sums[best] {
			best = k
		}
	}
	return front[best]
}

// at returns coordinate d, NaN if the point is too short to have it.
func (p Point) at(d int) float64 {
	if d < len(p.Values) {
		return p.Values[d]
	}
	return math.NaN()
}
