package pareto

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// tie is how far below the best score of a case a candidate may be and still
// be on that case's front. It allows for rounding in a weighted mean of
// checks, nothing else.
const tie = 1e-9

// Instances are the scores of candidates on the validation cases, and their
// fronts: for every case, the candidates with the best score on it. A
// candidate that is mediocre on average but alone in solving one case stays a
// parent; that is what keeps GEPA's search diverse (Agrawal et al. 2025,
// arXiv:2507.19457, Algorithm 2 "Pareto-based candidate selection").
//
// Scores may come in any order and be filled in later, as racing does. The
// fronts are computed when they are next needed. Instances must not be used
// from several goroutines at once.
type Instances struct {
	cases   int
	scores  [][]float64
	weights []int // nil: to be worked out again
}

// NewInstances returns an empty matrix over that many cases.
func NewInstances(cases int) *Instances { return &Instances{cases: cases} }

// Add appends a candidate with one score a case, larger is better, NaN if it
// has not been measured, and returns its index. It panics if the number of
// scores is not the number of cases. The slice is copied.
func (in *Instances) Add(scores []float64) int {
	if len(scores) != in.cases {
		panic(fmt.Sprintf("pareto: %d scores for %d cases", len(scores), in.cases))
	}
	in.scores = append(in.scores, slices.Clone(scores))
	in.weights = nil
	return len(in.scores) - 1
}

// Set enters or replaces one score; NaN takes it back.
func (in *Instances) Set(candidate, caseIndex int, score float64) {
	in.scores[candidate][caseIndex] = score
	in.weights = nil
}

// Len returns the number of candidates.
func (in *Instances) Len() int { return len(in.scores) }

// Score returns what was entered, NaN if nothing was.
func (in *Instances) Score(candidate, caseIndex int) float64 { return in.scores[candidate][caseIndex] }

// Mean returns the mean and the number of a candidate's known scores; NaN if
// there are none.
func (in *Instances) Mean(candidate int) (mean float64, n int) {
	sum := 0.0
	for _, s := range in.scores[candidate] {
		if s == s {
			sum += s
			n++
		}
	}
	return sum / float64(n), n
}

// Weights returns for every candidate on how many instance fronts it is,
// after the candidates that the others make superfluous were removed (their
// weight is 0). In ascending order of mean score, then of index, a candidate is
// removed if every front that holds it holds another candidate that is not
// removed. A candidate that is alone on a front therefore always stays, and
// every case with a score keeps a candidate on its front.
//
// The slice is valid until the next Add or Set and must not be changed.
// Candidates × cases steps; 1,000 × 1,000 take a few milliseconds.
func (in *Instances) Weights() []int {
	if in.weights == nil {
		in.weights = in.reckon()
	}
	return in.weights
}

func (in *Instances) reckon() []int {
	n := len(in.scores)
	best := make([]float64, in.cases)
	for c := range best {
		best[c] = math.Inf(-1)
	}
	means := make([]float64, n)
	for i, row := range in.scores {
		sum, known := 0.0, 0
		for c, s := range row[:len(best)] {
			if s == s {
				sum += s
				known++
				if s > best[c] {
					best[c] = s
				}
			}
		}
		means[i] = math.Inf(-1)
		if known > 0 {
			means[i] = sum / float64(known)
		}
	}

	// stands[i] has a bit for every front that holds candidate i.
	words := (in.cases + 63) / 64
	stands := make([][]uint64, n)
	backing := make([]uint64, n*words)
	holds := make([]int, in.cases) // candidates on a front that are not removed
	for c := range best {
		best[c] -= tie
	}
	for i, row := range in.scores {
		set := backing[i*words : (i+1)*words]
		for w := range set {
			first := w << 6
			scores, least, held := row[first:min(first+64, in.cases)], best[first:], holds[first:]
			least, held = least[:len(scores)], held[:len(scores)]
			var word uint64
			for b, s := range scores {
				// Passing is close to a coin flip: without a branch this takes
				// half the time.
				var on uint64
				if s >= least[b] {
					on = 1
				}
				word |= on << (b & 63)
				held[b] += int(on)
			}
			set[w] = word
		}
		stands[i] = set
	}
	alone := make([]uint64, words) // fronts that hold exactly one
	for c, k := range holds {
		if k == 1 {
			alone[c>>6] |= 1 << (c & 63)
		}
	}

	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(means[a], means[b]) })

	// One pass is enough: removals only make fronts smaller, so a candidate
	// that was needed once stays needed. Starting over after every removal, as
	// the paper writes it, finds the same set.
	weights := make([]int, n)
	for _, i := range order {
		if meet(stands[i], alone) {
			weights[i] = count(stands[i])
			continue
		}
		for w, word := range stands[i] {
			for ; word != 0; word &= word - 1 {
				b := bits.TrailingZeros64(word)
				c := w<<6 | b
				holds[c]--
				if holds[c] == 1 {
					alone[w] |= 1 << b
				}
			}
		}
	}
	return weights
}

// Pick returns a parent, drawn in proportion to Weights. If no score is
// known, every candidate is equally likely; -1 means no candidates. It draws
// from rng exactly once unless there is nothing to choose.
func (in *Instances) Pick(rng *rand.Rand) int {
	if len(in.scores) == 0 {
		return -1
	}
	weights := in.Weights()
	total := 0
	for _, w := range weights {
		total += w
	}
	if total == 0 {
		return rng.IntN(len(weights))
	}
	r := rng.IntN(total)
	for i, w := range weights {
		if r < w {
			return i
		}
		r -= w
	}
	panic("pareto: weights changed while picking")
}

func meet(a, b []uint64) bool {
	for w := range a {
		if a[w]&b[w] != 0 {
			return true
		}
	}
	return false
}

func count(a []uint64) int {
	n := 0
	for _, word := range a {
		n += bits.OnesCount64(word)
	}
	return n
}
