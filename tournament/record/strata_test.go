package record

import (
	"fmt"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

// used makes uses, one a day, of those strata: a capital letter is one that a case was made
// of. c is corrected, s silent.
func used(days string) (uses []Use) {
	for i, r := range days {
		u := Use{Time: day(i), Stratum: eval.Silent, Replays: r == 'C' || r == 'S'}
		if r == 'c' || r == 'C' {
			u.Stratum = Corrected
		}
		uses = append(uses, u)
	}
	return uses
}

func day(i int) time.Time { return time.Date(2026, 1, 1+i, 9, 0, 0, 0, time.UTC) }

func of(stratum string, at int) Cluster {
	return Cluster{Name: fmt.Sprint("session ", at), Place: Place{Time: day(at)}, Cases: []*eval.Case{{ID: fmt.Sprint("case ", at), Source: &eval.Source{Origin: Mined, Stratum: stratum, Time: day(at)}}}}
}

// TestAlone: once no case comes of a kind of use that is still common, cases of other kinds
// are no evidence, until one comes again; a kind of which none ever came, or that is rare,
// is no reason, and neither is what comes later.
func TestAlone(t *testing.T) {
	for _, c := range []struct {
		days    string
		stratum string
		want    string
	}{
		{"SSSCSSSC", Corrected, ""},
		{"SSSCSSSCsssC", Corrected, eval.Silent},
		{"SSSCSSSCsssC", eval.Silent, ""}, // one of that kind
		{"SSSCSSSCsssSC", Corrected, ""},
		{"SSSCSSSCs", Corrected, ""}, // that may be an accident
		{"sssCsssCsssC", Corrected, ""},
		{"SSSSSSSSSSccccc", eval.Silent, ""},
		{"SsSsSCsSsSsssssssssss", Corrected, eval.Silent},
	} {
		uses := used(c.days)
		st := &State{}
		for later := range 2 {
			if got := st.Alone(of(c.stratum, len(c.days)), uses); got != c.want {
				t.Errorf("a %s use after %s stands beside %q, want %q (later uses known: %d)", c.stratum, c.days, got, c.want, later)
			}
			uses = used(c.days + "SCSC")
		}
	}
	uses, c := used("SSSCSSSC"), of(Corrected, 12)
	st := &State{}
	st.Weigh(c, uses)
	if got := st.Alone(c, used("SSSCSSSCssss")); got != "" {
		t.Errorf("what the trial has weighed is left out, because of %s uses that were harvested since", got)
	}
	imported := Cluster{Name: "x", Cases: []*eval.Case{{ID: "x"}}}
	if got := st.Alone(imported, used("SSSCSSSCssss")); got != "" {
		t.Errorf("an imported case is left out, because of %s uses", got)
	}
}

// TestWeightsFollow: weights rest on the latest uses and on what was measured of them, and
// those that are kept stay.
func TestWeightsFollow(t *testing.T) {
	st, days := &State{}, ""
	weigh := func(stratum string) float64 {
		c := of(stratum, len(days))
		w := st.Weigh(c, used(days))
		st.take(c, nil)
		st.Clusters = append(st.Clusters, c.Name)
		days += map[string]string{Corrected: "C", eval.Silent: "S"}[stratum]
		return w.Cases[0]
	}
	for range 60 { // all are heard, one in four is corrected
		weigh(eval.Silent)
		weigh(eval.Silent)
		weigh(eval.Silent)
		weigh(Corrected)
	}
	if w := weigh(Corrected); w < 0.9 || w > 1.1 {
		t.Errorf("where all are heard a case weighs %g", w)
	}
	for range 20 { // then one silent use in six
		days += "sssss"
		weigh(eval.Silent)
		weigh(Corrected)
		weigh(Corrected)
	}
	if w := weigh(eval.Silent); w < 1.8 {
		t.Errorf("a silent case weighs %g, though one of six silent uses was heard of late", w)
	}
	first := of(eval.Silent, 0)
	if w := st.Weigh(first, used(days)); w.Cases[0] != st.Weights[first.Name].Cases[0] || w.Cases[0] != 1 {
		t.Errorf("the first case weighs %g now", w.Cases[0])
	}
}
