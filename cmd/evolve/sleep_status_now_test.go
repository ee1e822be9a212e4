package main

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/tournament/sleep"
)

// TestSleepStatusForgetsWhatIsDone: what a night left to its owner waits until it is
// dealt with, and no longer.
func TestSleepStatusForgetsWhatIsDone(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	b.run(exitDone, "kernel", "confirm", demoSkill)
	b.run(exitDone, "--skill", demoSkill, "--agent", "simulated", "--max-rollouts", "420", "--yes")
	proposed := false
	for n := 0; n < 3 && !proposed; n++ {
		r := b.night(exitDone)
		for _, k := range r.Steps {
			proposed = proposed || k.Kind == sleep.Install && k.Stage == sleep.Skipped
		}
	}
	const offer = "`evolve promote dataviz`"
	if page := b.run(exitDone, "sleep", "status"); !proposed || !strings.Contains(page, offer) {
		t.Fatalf("proposed %v:\n%s", proposed, page)
	}
	b.run(exitDone, "promote", demoSkill)
	if page := b.run(exitDone, "sleep", "status"); strings.Contains(page, offer) || !strings.Contains(page, "waiting  nothing") {
		t.Errorf("after the promotion:\n%s", page)
	}
	b.run(exitDone, "rollback", demoSkill)
	if page := b.run(exitDone, "sleep", "status"); strings.Contains(page, offer) {
		t.Errorf("after the rollback:\n%s", page)
	}
}
