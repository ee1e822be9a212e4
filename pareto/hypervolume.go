package pareto

import "slices"

// Hypervolume returns the exact volume of the space that the points dominate
// above ref, in the product of the objectives' units. Coordinates are as in
// Point, larger is better; a point that is not above ref in every coordinate,
// or does not know one, adds nothing. It slices along one objective after the
// other (While et al. 2006, "A faster algorithm for calculating hypervolume",
// HSO). It is exact in any dimension; in the four of evolve a hundred points
// take milliseconds.
func Hypervolume(points []Point, ref []float64) float64 {
	if len(ref) == 0 {
		return 0
	}
	var above [][]float64
	for _, p := range points {
		if len(p.Values) < len(ref) {
			continue
		}
		v := make([]float64, len(ref))
		inside := true
		for d := range ref {
			v[d] = p.Values[d] - ref[d]
			inside = inside && v[d] > 0 // false for NaN
		}
		if inside {
			above = append(above, v)
		}
	}
	return volume(above, len(ref))
}

// volume is the volume of the union of the boxes between the origin and the
// first dims coordinates of each point. It cuts across the last of them: the
// slab between two neighbouring heights is covered by the points at least as
// high. It reorders points.
func volume(points [][]float64, dims int) float64 {
	if len(points) == 0 {
		return 0
	}
	last := dims - 1
	if dims == 1 {
		top := 0.0
		for _, p := range points {
			top = max(top, p[0])
		}
		return top
	}
	points = slices.Clone(points)
	slices.SortFunc(points, func(a, b []float64) int {
		switch {
		case a[last] > b[last]:
			return -1
		case a[last] < b[last]:
			return 1
		}
		return 0
	})
	if dims == 2 {
		area, width := 0.0, 0.0
		for _, p := range points {
			if p[0] > width {
				area += (p[0] - width) * p[1]
				width = p[0]
			}
		}
		return area
	}
	total := 0.0
	var slab [][]float64 // undominated in the coordinates below last
	for i, p := range points {
		slab = insertUndominated(slab, p, last)
		floor := 0.0
		if i+1 < len(points) {
			floor = points[i+1][last]
		}
		if h := p[last] - floor; h > 0 {
			total += h * volume(slab, last)
		}
	}
	return total
}

// insertUndominated adds p to front, dropping what p covers in the first dims
// coordinates; a p that is itself covered is left out.
func insertUndominated(front [][]float64, p []float64, dims int) [][]float64 {
	for _, q := range front {
		if covers(q, p, dims) {
			return front
		}
	}
	kept := front[:0]
	for _, q := range front {
		if !covers(p, q, dims) {
			kept = append(kept, q)
		}
	}
	return append(kept, p)
}

func covers(a, b []float64, dims int) bool {
	for d := range dims {
		if a[d] < b[d] {
			return false
		}
	}
	return true
}
