package search

import (
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// TestTrialKnowsHowOftenTheIncumbentFails: what gain matters depends on it, and a
// trial that took a good skill for one that fails half of the time would drop
// whatever betters it.
func TestTrialKnowsHowOftenTheIncumbentFails(t *testing.T) {
	w := worldstest.Additive(1, 16, 0.05)
	doc, err := skill.Parse([]byte(w.Seed()), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := &recordtest.Memory{}
	budget := eval.NewBudget(eval.Caps{Rollouts: 400}, time.Now)
	out, err := Improve(t.Context(), Plan{Run: &record.Run{ID: "r", Skill: w.Skill, Seed: 1}, Incumbent: eval.Variant{Name: w.Skill, Doc: doc},
		Cases: w.Cases(20, 20, 20), Agent: w.Agent(), Grader: &eval.Checks{}, Mutator: w.Model(), Journal: m, Budget: budget, Caps: eval.Caps{Rollouts: 400},
		HeldOut: 20, Concurrency: 4, Now: time.Now})
	if err != nil || out.Verdict == nil {
		t.Fatalf("%+v, %v", out, err)
	}
	rec, err := m.Trial(t.Context(), w.Skill, doc.Hash(), out.Challenger.SHA)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := rec.Kept()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := kept.Config().Failures, 1-out.Search.Incumbent.Metrics.Quality; got != want || got == 0.5 {
		t.Errorf("the trial takes it to fail in %g of its uses, validation says %g", got, want)
	}
}
