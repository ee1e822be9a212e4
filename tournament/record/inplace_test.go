package record

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"pgregory.net/rapid"
)

// A week of uses is drawn: which were of a text on trial in place, and what became of each.
func drawUses(t *rapid.T, start time.Time) (uses []Use) {
	from, to := rapid.IntRange(0, 20).Draw(t, "from"), rapid.IntRange(0, 20).Draw(t, "to")
	for i := range 20 {
		u := Use{Time: start.Add(time.Duration(i) * time.Hour), Stratum: rapid.SampledFrom([]string{Corrected, "accepted", eval.Silent}).Draw(t, "stratum")}
		if from <= i && i < to {
			u.OnTrial = "tried"
		}
		uses = append(uses, u)
	}
	return uses
}

// caseOf is the case of a use: its turn began some seconds before.
func caseOf(i int, u Use) Cluster {
	return Cluster{Name: fmt.Sprint("c", i), Cases: []*eval.Case{{ID: fmt.Sprint(i), Source: &eval.Source{Origin: Mined, Stratum: u.Stratum, Time: u.Time.Add(-5 * time.Second)}}}}
}

// TestWeighPerTextInPlace: what became of uses of one text in place has no part in the
// weights of cases of another one.
func TestWeighPerTextInPlace(t *testing.T) {
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		uses := drawUses(t, start)
		flip := append([]Use{}, uses...) // the same, but for what became of uses of the text on trial
		for i := range flip {
			if flip[i].OnTrial != "" {
				flip[i].Stratum = rapid.SampledFrom([]string{Corrected, "accepted", eval.Silent}).Draw(t, "other stratum")
			}
		}
		weights := func(all []Use, of string) (out []Weight) {
			st := &State{Since: start}
			for i, u := range all {
				c := caseOf(i, u)
				w := st.Weigh(c, all)
				if u.OnTrial == of {
					out = append(out, w)
				}
				st.take(c, nil)
				st.Clusters = append(st.Clusters, c.Name)
			}
			return out
		}
		if a, b := weights(uses, ""), weights(flip, ""); !reflect.DeepEqual(a, b) {
			t.Fatalf("weights of the others changed:\n%v\n%v", a, b)
		}
	})
}

// TestWeighWithoutTrialInstalls: while nothing was ever in place on trial all uses count,
// and nothing more is kept.
func TestWeighWithoutTrialInstalls(t *testing.T) {
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	uses := []Use{{Time: start, Stratum: eval.Silent}, {Time: start.Add(time.Hour), Stratum: Corrected}, {Time: start.Add(2 * time.Hour), Stratum: Corrected}}
	st := &State{Since: start}
	tried := append([]Use{}, uses...)
	tried[1].OnTrial = "tried"
	all, others := st.Weigh(caseOf(2, uses[2]), uses), (&State{Since: start}).Weigh(caseOf(2, tried[2]), tried)
	if st.Texts != nil {
		t.Errorf("kept: %v", st.Texts)
	}
	if !(all.Cases[0] > others.Cases[0]) { // one more correction before it
		t.Errorf("%v with all uses, %v without those of the text on trial", all, others)
	}
}
