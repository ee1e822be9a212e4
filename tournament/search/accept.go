package search

import "math"

// An Acceptance decides on a minibatch whether a child may enter the pool.
// child and parent hold the quality on the same cases, NaN if missing; cases
// missing on either side do not count.
type Acceptance interface {
	Accept(child, parent []float64) bool
}

// Strict accepts a child that scores more than its parent in total (GEPA's
// rule).
type Strict struct{}

// Accept implements Acceptance.
func (Strict) Accept(child, parent []float64) bool { return gain(child, parent) > 1e-9 }

// NotWorse accepts a child whose score is lower by at most Slack a case: the
// rule for deletions, whose gain is the shorter text.
type NotWorse struct{ Slack float64 }

// Accept implements Acceptance.
func (a NotWorse) Accept(child, parent []float64) bool {
	return gain(child, parent) >= -a.Slack*float64(len(child))-1e-9
}

// gain sums the paired differences.
func gain(child, parent []float64) float64 {
	sum := 0.0
	for i := range child {
		if d := child[i] - parent[i]; !math.IsNaN(d) {
			sum += d
		}
	}
	return sum
}
