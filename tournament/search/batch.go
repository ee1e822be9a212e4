package search

import (
	"math"
	"math/rand/v2"
)

// A Batch picks the train cases on which a child is compared with its parent:
// at most n of those that the parent has a score on, so that the parent need
// not be tried again. parent holds its quality by case, NaN if unknown;
// targets are the cases that the change is meant for.
type Batch interface {
	Pick(parent []float64, targets []int, n int, rng *rand.Rand) []int
}

// Targeted picks the cases that the change is meant for, and for a third
// cases that the parent passes, which a careless edit breaks.
type Targeted struct{}

// Pick implements Batch.
func (Targeted) Pick(parent []float64, targets []int, n int, rng *rand.Rand) []int {
	var out, passing []int
	in := map[int]bool{}
	for _, i := range rng.Perm(len(parent)) {
		if parent[i] >= 1 {
			passing = append(passing, i)
		}
	}
	add := func(most int, idx []int) {
		for _, i := range idx {
			if len(out) < most && !in[i] && !math.IsNaN(parent[i]) {
				in[i] = true
				out = append(out, i)
			}
		}
	}
	add(n-min(len(passing), n/3), targets)
	add(n, passing)
	add(n, rng.Perm(len(parent)))
	return out
}

// Shuffled picks at random, as the reference GEPA does.
type Shuffled struct{}

// Pick implements Batch.
func (Shuffled) Pick(parent []float64, _ []int, n int, rng *rand.Rand) (out []int) {
	for _, i := range rng.Perm(len(parent)) {
		if len(out) < n && !math.IsNaN(parent[i]) {
			out = append(out, i)
		}
	}
	return out
}

// Batches are the strategies by name.
var Batches = map[string]Batch{"targeted": Targeted{}, "shuffled": Shuffled{}}
