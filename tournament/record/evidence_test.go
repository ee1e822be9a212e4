package record

import (
	"encoding/json"
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
	if n, err := trial.Fresh(test, spent); err != nil || n != 2 {
		t.Errorf("%d fresh cases, error %v; want d and e", n, err)
	}
	if _, err := (&TrialRecord{State: []byte(`{"version":2}`)}).Fresh(test, spent); err == nil {
		t.Error("read a state of an unknown version")
	}
}
