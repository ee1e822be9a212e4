package pareto

import (
	"fmt"
	"math"
	"testing"
)

// Quality is proved and cost varies too much to be within its tolerance: the trial is
// undecided, and cost is what keeps it open.
func TestOutstanding(t *testing.T) {
	tr := NewTrial(DefaultConfig())
	for i := range 20 {
		tr.Add(Pair{Quality: 1, Latency: math.NaN(), Cost: 0.9 * float64(1-2*(i%2)), Retries: math.NaN()})
	}
	d := tr.Decide()
	if d.Verdict != Undecided || d.EValue*d.Alpha < 1 || fmt.Sprint(tr.Outstanding()) != "[cost]" {
		t.Errorf("%s, e = %g, open: %v", d.Verdict, d.EValue, tr.Outstanding())
	}
	for range 60 {
		tr.Add(Pair{Quality: 1, Latency: math.NaN(), Cost: 0, Retries: math.NaN()})
	}
	if d := tr.Decide(); d.Verdict != Promote || tr.Outstanding() != nil {
		t.Errorf("%s, open: %v", d.Verdict, tr.Outstanding())
	}
}
