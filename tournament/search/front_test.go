package search

import (
	"slices"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

func TestFront(t *testing.T) {
	x := func(v float64) *float64 { return &v }
	ms := []eval.Metrics{
		{Quality: 0.9, CostUSD: x(2), Retries: 0.1},
		{Quality: 0.5, CostUSD: x(1), Retries: 0.5},
		{Quality: 0.5, CostUSD: x(3), Retries: 0.5}, // dearer than the one before, and no better
	}
	if got := Front(ms, Noise{}); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("front %v, want [0 1]", got)
	}
	// Without a price, tokens are the cost.
	ms = []eval.Metrics{{Quality: 0.5, Tokens: x(200)}, {Quality: 0.5, Tokens: x(100)}}
	if got := Front(ms, Noise{}); !slices.Equal(got, []int{1}) {
		t.Errorf("front %v, want [1]", got)
	}
	if got := Front(nil, Noise{}); len(got) != 0 {
		t.Errorf("the front of nothing is %v", got)
	}
}
