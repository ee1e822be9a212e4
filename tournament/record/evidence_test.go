package record

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
)

// A case is not fresh, under any id, if the trial has used its cluster, or if
// it belongs to another challenger.
func TestFresh(t *testing.T) {
	state, err := json.Marshal(State{Version: 1, Trial: pareto.NewTrial(pareto.Config{}), Clusters: []string{"heard"}, Used: map[string][]string{"heard": nil}})
	if err != nil {
		t.Fatal(err)
	}
	trial := &TrialRecord{Challenger: "mine", State: state}
	test := []eval.Case{{ID: "a", Cluster: "heard"}, {ID: "late", Cluster: "heard"}, {ID: "b", Cluster: "other"}, {ID: "c", Cluster: "other"},
		{ID: "d", Cluster: "cut short"}, {ID: "e"}}
	spent := &Spent{By: map[string]string{"a": "mine", "b": "another", "d": "mine"}}
	if n, err := trial.Fresh(test, spent, nil); err != nil || n != 2 {
		t.Errorf("%d fresh cases, error %v; want d and e", n, err)
	}
	if _, err := (&TrialRecord{State: []byte(`{"version":2}`)}).Fresh(test, spent, nil); err == nil {
		t.Error("read a state of an unknown version")
	}
}

// TestCountedAsMeasured: what a gate would leave out is not counted as fresh, or a run would
// keep money for pairs that it does not measure.
func TestCountedAsMeasured(t *testing.T) {
	silent := func(at int) eval.Case {
		return eval.Case{ID: fmt.Sprint("case ", at), Cluster: fmt.Sprint("session ", at), Split: eval.Test, Prompt: fmt.Sprint("request ", at, at*7, at*13),
			Source: &eval.Source{Origin: Mined, Stratum: eval.Silent, Time: day(at)}}
	}
	said := silent(6)
	said.Source.Stratum = Corrected
	for _, c := range []struct {
		name string
		test []eval.Case
		uses []Use
		want int
	}{
		{"nothing is known of uses", []eval.Case{silent(4), silent(5)}, nil, 2},
		{"nobody ever says anything", []eval.Case{silent(4), silent(5)}, used("ssssSS"), 2},
		{"a trial waits for a use of which something was said", []eval.Case{silent(4), silent(5)}, used("CsCsSS"), 0},
		{"which has come", []eval.Case{silent(4), silent(5), said, silent(7)}, used("CsCsSSCS"), 2},
	} {
		if n, clusters := (&Spent{}).Unspent(c.test, c.uses); n != c.want || clusters != c.want {
			t.Errorf("%s: %d cases in %d clusters, want %d", c.name, n, clusters, c.want)
		}
	}
}
