package work

import (
	"fmt"
	"testing"

	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// TestNightLeavesTheGainOfOneWorkspace: a proof that only one of several workspaces has
// gained by is its owner's to install.
func TestNightLeavesTheGainOfOneWorkspace(t *testing.T) {
	proved := func(gains ...float64) *record.TrialRecord { // of the workspaces in turn
		st := &record.State{Version: 1, Trial: pareto.NewTrial(pareto.Config{})}
		for i := 0; st.Trial.Verdict().IsOpen() && i < 200; i++ {
			k := record.Cluster{Name: fmt.Sprint(i), Place: record.Place{Workspace: fmt.Sprint("/work/w", i%len(gains))}}
			st.Use(k, pareto.Pair{Quality: gains[i%len(gains)]}, nil)
		}
		rec := &record.TrialRecord{Decision: st.Trial.Verdict()}
		if err := rec.Save(st); err != nil || rec.Decision != pareto.Promote {
			t.Fatalf("%v, %v", rec.Decision, err)
		}
		return rec
	}
	for want, rec := range map[string]*record.TrialRecord{
		"": proved(1), "its gain rests on one workspace, w1": proved(0, 1),
	} {
		if got, err := oneWorkspace(rec); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	if got, err := oneWorkspace(proved(0.5, 1, 0)); err != nil || got != "" {
		t.Errorf("two of three gain: %q, %v", got, err)
	}
}
