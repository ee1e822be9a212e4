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
	"github.com/skill-evolve/evolve/tournament/record"
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
