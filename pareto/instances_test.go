package pareto

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func ExampleInstances() {
	in := NewInstances(3)
	in.Add([]float64{1, 0, 0})          // good at the first case
	in.Add([]float64{0, 1, 1})          // good at the others
	in.Add([]float64{0, 0, 1})          // adds nothing to the one before
	in.Add([]float64{0, math.NaN(), 0}) // best nowhere
	fmt.Println(in.Weights())
	in.Set(3, 1, 2) // racing fills in a score
	fmt.Println(in.Weights())
	// Output:
	// [1 2 0 0]
	// [1 1 0 1]
}

// literal is the selection written as the paper writes it: sets, and a new
// start after every removal.
func literal(scores [][]float64, cases int) []int {
	fronts := make([][]int, cases)
	for c := range cases {
		best := math.Inf(-1)
		for _, row := range scores {
			if row[c] > best {
				best = row[c]
			}
		}
		for i, row := range scores {
			if row[c] >= best-1e-9 {
				fronts[c] = append(fronts[c], i)
			}
		}
	}
	mean := func(i int) float64 {
		sum, n := 0.0, 0
		for _, s := range scores[i] {
			if !math.IsNaN(s) {
				sum += s
				n++
			}
		}
		if n == 0 {
			return math.Inf(-1)
		}
		return sum / float64(n)
	}
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(mean(a), mean(b)) })
	removed := make([]bool, len(scores))
	superfluous := func(y int) bool {
		for _, front := range fronts {
			if slices.Contains(front, y) &&
				!slices.ContainsFunc(front, func(z int) bool { return z != y && !removed[z] }) {
				return false
			}
		}
		return true
	}
	for again := true; again; {
		again = false
		for _, y := range order {
			if !removed[y] && superfluous(y) {
				removed[y], again = true, true
				break
			}
		}
	}
	weights := make([]int, len(scores))
	for _, front := range fronts {
		for _, i := range front {
			if !removed[i] {
				weights[i]++
			}
		}
	}
	return weights
}

func drawScore(t *rapid.T, label string) float64 {
	return rapid.SampledFrom([]float64{0, 0.5, 1, 1 - 1e-12, math.NaN()}).Draw(t, label)
}

func TestWeightsAreTheAlgorithms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cases := rapid.IntRange(1, 9).Draw(t, "cases")
		n := rapid.IntRange(1, 9).Draw(t, "candidates")
		in := NewInstances(cases)
		scores := make([][]float64, n)
		for i := range scores {
			scores[i] = make([]float64, cases)
			for c := range scores[i] {
				scores[i][c] = drawScore(t, "score")
			}
			in.Add(scores[i])
		}
		for range rapid.IntRange(0, 5).Draw(t, "sets") {
			i, c := rapid.IntRange(0, n-1).Draw(t, "i"), rapid.IntRange(0, cases-1).Draw(t, "c")
			if rapid.Bool().Draw(t, "look") {
				in.Weights() // what is remembered must not outlive a Set
			}
			scores[i][c] = drawScore(t, "set")
			in.Set(i, c, scores[i][c])
		}
		if got, want := in.Weights(), literal(scores, cases); !slices.Equal(got, want) {
			t.Fatalf("weights %v, want %v for %v", got, want, scores)
		}
		for c := range cases {
			known, held := false, false
			best := math.Inf(-1)
			for i := range scores {
				if s := scores[i][c]; !math.IsNaN(s) {
					known, best = true, max(best, s)
				}
			}
			for i := range scores {
				held = held || in.Weights()[i] > 0 && scores[i][c] >= best-1e-9
			}
			if known && !held {
				t.Fatalf("case %d lost everybody on its front", c)
			}
		}
	})
}

func TestPickFollowsWeights(t *testing.T) {
	in := NewInstances(4)
	in.Add([]float64{1, 1, 1, 0})
	in.Add([]float64{0, 0, 0, 1})
	in.Add([]float64{0, 0, 0, 0})
	rng := rand.New(rand.NewPCG(1, 2))
	var drawn [3]int
	for range 4000 {
		drawn[in.Pick(rng)]++
	}
	if drawn[2] != 0 || drawn[0] < 2880 || drawn[0] > 3120 {
		t.Errorf("drawn %v, want about [3000 1000 0]", drawn)
	}
}

func TestPickWithoutScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	in := NewInstances(2)
	if got := in.Pick(rng); got != -1 {
		t.Errorf("Pick of nothing = %d, want -1", got)
	}
	in.Add([]float64{math.NaN(), math.NaN()})
	in.Add([]float64{math.NaN(), math.NaN()})
	seen := map[int]bool{}
	for range 50 {
		seen[in.Pick(rng)] = true
	}
	if !seen[0] || !seen[1] {
		t.Errorf("drawn %v, want both", seen)
	}
}

func TestAddRefusesAnotherLength(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic for 1 score over 2 cases")
		}
	}()
	NewInstances(2).Add([]float64{1})
}

// BenchmarkPick1000x1000 works the fronts of a full matrix out from scratch in
// every round: the budget is 10 ms.
func BenchmarkPick1000x1000(b *testing.B) {
	for _, p := range []float64{0.1, 0.7, 1} {
		b.Run(fmt.Sprintf("pass=%g", p), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(3, 5))
			in := NewInstances(1000)
			for range 1000 {
				row := make([]float64, 1000)
				for c := range row {
					if rng.Float64() < p {
						row[c] = 1
					}
				}
				in.Add(row)
			}
			for b.Loop() {
				in.Set(0, 0, 1) // forget what was worked out
				in.Pick(rng)
			}
		})
	}
}
