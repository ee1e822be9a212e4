package work

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/campaign"
)

// TestNeedsCountWhatCanBeTried: a case that a run would leave out adds nothing to the forecast
// of a night.
func TestNeedsCountWhatCanBeTried(t *testing.T) {
	agent.Register(&agent.Kind{Name: "unseen-by-needs"}, &agent.Kind{Name: "seen-by-needs", Records: true})
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	rollouts := func(name string, ordinary, ofWork int) int64 {
		t.Helper()
		var cases []eval.Case
		for i := range ordinary + ofWork {
			c := eval.Case{ID: fmt.Sprint(i), Skill: "dataviz", Prompt: fmt.Sprint("request ", i), Split: eval.Test, Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}}
			if i%2 == 0 {
				c.Split = eval.Val
			}
			if i >= ordinary {
				c.Checks = []eval.Check{{Type: eval.Ran, Value: "x"}}
			}
			cases = append(cases, c)
		}
		s := &Worker{Store: db, now: &nightModel{f: campaign.Config{Spec: agent.Spec{Agent: name, Sandbox: agent.SandboxNone}}, back: new(agent.Backends)}}
		n, err := s.needs(t.Context(), &skill.Live{Entry: skill.Entry{Name: "dataviz"}}, cases, skill.Harness)
		if err != nil {
			t.Fatal(err)
		}
		return n.Rollouts
	}
	few, all := rollouts("unseen-by-needs", 10, 0), rollouts("unseen-by-needs", 20, 0)
	if got := rollouts("unseen-by-needs", 10, 10); got != few || few >= all {
		t.Errorf("%d rollouts with cases that cannot be tried, %d without them, %d if all could", got, few, all)
	}
	if got := rollouts("seen-by-needs", 10, 10); got != all {
		t.Errorf("%d rollouts with an agent whose work is recorded, want %d", got, all)
	}
}
