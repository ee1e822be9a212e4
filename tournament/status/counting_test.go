package status

import (
	"math"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/pareto"
)

// TestStatusCountsWhatTheVerdictCounts: pairs without a quality that counts are no
// cases, in status as in the verdict's own words.
func TestStatusCountsWhatTheVerdictCounts(t *testing.T) {
	none := math.NaN()
	tr := pareto.NewTrial(pareto.DefaultConfig())
	for i := range 12 {
		p := pareto.Pair{Quality: []float64{0.5, 1}[i%2], Latency: none, Cost: none, Retries: 0}
		if i%12 >= 7 {
			p.Quality = none
		}
		tr.Add(p)
	}
	d := tr.Decide()
	if d.Cases != 12 || counting(&d) != 7 || !strings.Contains(d.Reason, "over 7 requests it never saw") {
		t.Errorf("%d pairs, %d count, and the verdict says %s", d.Cases, counting(&d), d.Reason)
	}
	if d.Verdict != pareto.Promising {
		t.Fatalf("%s: the rest is about one that is undecided", d.Reason)
	}
	// Evidence grows with the cases that count.
	if n := d.Needed(); n < 8 || n > 12 {
		t.Errorf("about %d cases prove it, after 7 with e = %g", n, d.EValue)
	}
}
