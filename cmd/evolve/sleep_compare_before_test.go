package main

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
)

// A newModel answers as another model than the one that versions were proved on.
type newModel struct{ eval.Agent }

func (newModel) Identity() eval.Identity { return eval.Identity{Backend: "openai", Model: "new"} }

// TestComparesWithWhatWasReplaced: the version before the installed one is the
// one that was in its place, as for a rollback and the watch, whatever it was made
// from.
func TestComparesWithWhatWasReplaced(t *testing.T) {
	r := newRoaming(t)
	s, world := nightWork(t, r.a, r.db), worldstest.Additive(1, 4, 0)
	s.Config.Sandbox = agent.SandboxNone
	s.Runner.Backends = func(context.Context, *agent.Spec) (*agent.Backends, error) {
		return &agent.Backends{Agent: newModel{world.Agent()}, Judge: world.Model()}, nil
	}
	previous := func() string {
		t.Helper()
		live := r.live()
		sha := live.Doc.Hash()
		err := r.db.Journal("r").SaveRollout(t.Context(), &eval.Rollout{Key: "k" + sha, Candidate: sha, CaseID: "c", Arm: "gate:0:" + sha[:16],
			Agent: eval.Identity{Backend: "openai", Model: "old"}, Status: eval.Done})
		if err != nil {
			t.Fatal(err)
		}
		o, err := s.Parts().Look(t.Context(), "tagger")
		if err != nil || o.Drift == nil || o.Drift.Version != sha {
			t.Fatalf("drift of %.12s: %+v, %v", sha, o.Drift, err)
		}
		return o.Drift.Previous
	}
	next := func(n int) []byte { return append(bytes.Clone(r.v0), fmt.Sprintf("\nRule %d.\n", n)...) }
	r.install(next(1))
	if got := previous(); got != skill.HashText(r.v0) {
		t.Errorf("the first version replaced %.12s, want what was found", got)
	}
	r.install(next(2))
	// Made from what was found, as a candidate of before, and put in the place of v2.
	v := record.Version{Skill: "tagger", SHA: skill.HashText(r.v1), Parent: skill.HashText(r.v0), Author: "evolve", Operator: "reflect", Proven: true, Text: r.v1}
	v, err := r.db.SaveVersion(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	if err := promoteSkill(t.Context(), r.a, fmt.Sprintf("tagger@v%d", v.N), promoteFlags{}); err != nil {
		t.Fatal(err)
	}
	if got := previous(); got != skill.HashText(next(2)) {
		t.Errorf("it replaced %.12s, want v2, not v0 that it was made from", got)
	}
	if err := rollbackLive(t.Context(), r.a, "tagger"); err != nil { // v2 again, which replaced v1
		t.Fatal(err)
	}
	if got := previous(); got != skill.HashText(next(1)) {
		t.Errorf("taken back, it replaced %.12s, want v1", got)
	}
}

// TestComparesAnEditedProof: the version that an edit made of a proved change is compared
// by what the change was proved on, and on none of the cases that proved it.
func TestComparesAnEditedProof(t *testing.T) {
	o, ctx := newDesk(t), t.Context()
	sha := o.challenger(o.base, swap(tablesText, "Name every column.", "Name every column, with its unit."), "reflect", pareto.Promote)
	rec, err := o.db.Journal("r").Trial(ctx, "tables", o.base, sha)
	o.check(err)
	rec.State = bytes.Replace(rec.State, []byte("{"), []byte(`{"on":{"agent":"openai","asked":"old"},`), 1)
	o.check(o.db.Journal("r").SaveTrial(ctx, rec))
	_, _, err = o.db.SaveCases(ctx, []eval.Case{{ID: "fresh", Skill: "tables", Prompt: "quite another request", Split: eval.Test, Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}}})
	o.check(err)
	o.write(swap(tablesText, "Markdown", "HTML"))
	o.look()
	live, err := o.a.layout().Live("tables")
	o.check(err)
	in := installerOf(o.a, o.db)
	plan, err := in.PlanPromotion(ctx, live, release.Request{At: sha})
	o.check(err)
	_, err = in.Apply(ctx, plan)
	o.check(err)
	s, world := nightWork(t, o.a, o.db), worldstest.Additive(1, 4, 0)
	defer s.Close()
	s.Config.Sandbox = agent.SandboxNone
	s.Runner.Backends = func(context.Context, *agent.Spec) (*agent.Backends, error) {
		return &agent.Backends{Agent: newModel{world.Agent()}, Judge: world.Model()}, nil
	}
	look, err := s.Parts().Look(ctx, "tables")
	o.check(err)
	d := look.Drift
	if d == nil || d.Version == sha || d.From.Asked != "old" || d.To.Asked != "new" {
		t.Fatalf("drift %+v", d)
	}
	if d.Cases != 1 {
		t.Errorf("it is compared on %d cases, want the one that did not prove it", d.Cases)
	}
}
