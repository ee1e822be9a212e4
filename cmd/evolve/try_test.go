package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// TestTrialGoesOnInPlace: while a challenger is in place on trial, nights run the text that
// it replaced with and without the change; the proof lets it stay.
func TestTrialGoesOnInPlace(t *testing.T) {
	b := newBedroom(t)
	ground := b.live()
	b.night(exitDone, "--max-rollouts", "260")
	b.run(exitDone, "try", demoSkill, "--yes")
	b.run(exitDone, "kernel", "confirm", demoSkill)
	b.approveProbes()
	tried := b.live()
	if bytes.Equal(tried, ground) {
		t.Fatal("nothing is in place on trial")
	}
	for range 6 {
		r := b.night(exitDone, "--max-rollouts", "260")
		if !bytes.Equal(b.live(), tried) {
			t.Fatalf("it was taken back:\n%s", b.stderr.String())
		}
		k := slices.IndexFunc(r.Steps, func(k sleep.Step) bool { return k.Kind == sleep.Continue && k.Skill == demoSkill })
		if k < 0 || r.Steps[k].Result == nil {
			t.Fatalf("its trial does not go on: %+v", r.Steps)
		}
		db := b.store()
		run, err := db.Run(t.Context(), r.Steps[k].Run)
		if err != nil || run.Incumbent != skill.HashText(ground) || run.Challenger != skill.HashText(tried) {
			t.Fatalf("%+v, %v", run, err)
		}
		for _, sha := range []string{run.Incumbent, run.Challenger} {
			if rs, err := db.Rollouts(t.Context(), store.RolloutFilter{Candidate: sha, Run: run.ID}); err != nil || len(rs) == 0 {
				t.Errorf("%d rollouts of %.12s, %v", len(rs), sha, err)
			}
		}
		v, err := db.VersionBySHA(t.Context(), demoSkill, run.Challenger)
		db.Close()
		if err != nil {
			t.Fatal(err)
		}
		if r.Steps[k].Result.Decision != pareto.Promote {
			if v.Proven {
				t.Error("proved before its trial has decided")
			}
			continue
		}
		if !v.Proven || len(v.Evidence) == 0 || !strings.Contains(r.Steps[k].Note, "is better (at most 5 % luck): it stays") {
			t.Errorf("%+v\n%s", v, r.Steps[k].Note)
		}
		if slices.ContainsFunc(r.Steps, func(k sleep.Step) bool { return k.Kind == sleep.Install }) {
			t.Errorf("it waits for its owner although it stays: %+v", r.Steps)
		}
		b.run(exitDone, "rollback", demoSkill)
		if !bytes.Equal(b.live(), ground) {
			t.Error("a rollback does not lead to the text before it")
		}
		return
	}
	t.Fatal("six nights did not prove it")
}
