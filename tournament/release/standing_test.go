package release

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
)

// TestStandingNamesTheWorker: who would install a text that one worker alone proves reads so.
func TestStandingNamesTheWorker(t *testing.T) {
	trial := pareto.NewTrial(pareto.Config{})
	for range 20 {
		trial.Add(pareto.Pair{Quality: 1, Workers: []string{"far"}})
	}
	rec := &record.TrialRecord{Decision: trial.Verdict(), Challenger: "abc"}
	if err := rec.Save(&record.State{Version: 1, Trial: trial}); err != nil {
		t.Fatal(err)
	}
	const held = "probably better: proved with all pairs, not yet without those of worker far"
	if err := unproven(rec); err == nil || !strings.Contains(err.Error(), held) {
		t.Errorf("%v does not say %q", err, held)
	}
}
