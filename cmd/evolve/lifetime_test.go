package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// TestOwnersRunsAreTrialsOfTheLifetime: a night does not install what the
// owner's run proved, as the 21st trial of a skill, at the level of a single
// one: its trial continues with the remaining held-out cases, at the level of
// its number, and waits if there are none. The owner may install it at any
// time, and the command reports what the proof is worth.
func TestOwnersRunsAreTrialsOfTheLifetime(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	ctx := t.Context()
	v0 := b.live()
	const before = 20
	func() {
		db := b.store()
		defer db.Close()
		for i := range before {
			rec := &record.TrialRecord{Skill: demoSkill, Incumbent: "older", Challenger: fmt.Sprintf("null%02d", i), Run: "r", Decision: "reject", Simulated: true,
				State: []byte(`{"version":1,"trial":{"version":1,"config":{"quality":{"alpha":0.04},"latency":{"alpha":0.01},"cost":{"alpha":0.01},"retries":{"alpha":0.01},"tolerance_alpha":0.05,"futility_alpha":0.05},"pairs":[],"verdict":"reject"}}`)}
			if err := db.Journal("r").SaveTrial(ctx, rec); err != nil {
				t.Fatal(err)
			}
		}
	}()
	b.run(exitDone, "kernel", "confirm", demoSkill)
	said := b.run(exitDone, "--skill", demoSkill, "--agent", "simulated", "--max-rollouts", "420", "--yes")
	const worth = "by chance); as trial 21 of dataviz it takes 1 in 11550"
	if !strings.Contains(strings.Join(strings.Fields(said), " "), worth) {
		t.Fatalf("the run does not say what its proof is worth:\n%s", said)
	}
	level := (&record.TrialNumber{Number: before + 1}).Level()
	trial := func() (open *record.TrialRecord, st *sleep.State) {
		t.Helper()
		db := b.store()
		defer db.Close()
		all, err := db.Trials(ctx, demoSkill)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			if all[i].Incumbent != "older" {
				open = &all[i]
			}
		}
		if st, err = sleep.Stored(db).State(ctx, demoSkill); err != nil {
			t.Fatal(err)
		}
		return open, st
	}
	was, st := trial()
	if len(st.Trials) != before+1 || st.Trials[before].Level != level || st.Trials[before].Decision != pareto.Promote || len(st.Lifetime.Rejected) != 0 {
		t.Fatalf("the lifetime after the owner's run: %+v", st)
	}
	kept, err := was.Kept()
	if err != nil {
		t.Fatal(err)
	}

	b.approveProbes()
	r := b.night(exitDone, "--policy", "auto", "--max-rollouts", "24")
	var step *sleep.Step
	for i := range r.Steps {
		if r.Steps[i].Kind == sleep.Continue {
			step = &r.Steps[i]
		}
	}
	if step == nil || step.Level != level || step.Result == nil || !step.Result.Decision.IsOpen() {
		t.Fatalf("the night: %+v", r.Steps)
	}
	if !bytes.Equal(b.live(), v0) {
		t.Fatal("a night installed what holds for a single trial only")
	}
	now, st := trial()
	more, err := now.Kept()
	if err != nil || more.Cases() <= kept.Cases() || !now.Decision.IsOpen() {
		t.Errorf("the trial after the night: %s on %d cases, %v; it had %d", now.Decision, more.Cases(), err, kept.Cases())
	}
	if now.Challenger != was.Challenger || len(st.Trials) != before+1 {
		t.Errorf("the night tried another one: %+v", st)
	}

	b.run(exitDone, "promote", demoSkill, "--unproven") // no --yes: it is better as a single trial
	if !strings.Contains(b.stderr.String(), worth) {
		t.Errorf("promote says %q, want what the proof is worth", b.stderr.String())
	}
	if bytes.Equal(b.live(), v0) {
		t.Error("the owner's word did not install it")
	}
}

// TestOwnersProofIsInstalledOnceItLasts: the nights go on with it until it does.
func TestOwnersProofIsInstalledOnceItLasts(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	v0 := b.live()
	b.run(exitDone, "kernel", "confirm", demoSkill)
	b.approveProbes()
	b.run(exitDone, "--skill", demoSkill, "--agent", "simulated", "--max-rollouts", "420", "--yes")
	for n := 0; n < 4 && bytes.Equal(b.live(), v0); n++ {
		b.night(exitDone, "--policy", "auto")
	}
	db := b.store()
	defer db.Close()
	st, err := sleep.Stored(db).State(t.Context(), demoSkill)
	if err != nil || len(st.Lifetime.Rejected) != 1 || st.Lifetime.Rejected[0] != 1 || bytes.Equal(b.live(), v0) {
		t.Errorf("the lifetime: %+v, %v; installed %v", st, err, !bytes.Equal(b.live(), v0))
	}
}
