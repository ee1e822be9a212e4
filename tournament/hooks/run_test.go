package hooks_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/tournament/hooks"
)

// broken is a model that does not answer.
type broken struct{ *model }

func (broken) Complete(context.Context, eval.Prompt) (eval.Completion, error) {
	return eval.Completion{}, eval.Infraf(eval.Unreachable, "no answer")
}

func unanswered(err error) bool {
	_, ok := errors.AsType[*eval.InfraError](err)
	return ok
}

func ids(of []hooks.Session) (out []string) {
	for i := range of {
		out = append(out, of[i].ID)
	}
	return out
}

// A run that goes on keeps nothing for its trial that it has searched in, whatever sessions there
// are by then: a model may have seen them.
func TestRunThatGoesOn(t *testing.T) {
	dir := t.TempDir()
	db, err := store.Open(t.Context(), filepath.Join(dir, "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p := &playing{map[string]int{}}
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	begin := func(all []hooks.Session) *hooks.Run {
		t.Helper()
		now = now.Add(time.Minute)
		r := &hooks.Run{Store: db, Locks: lock.Locks{Dir: datadir.Dir(dir), Now: time.Now}, Live: &skill.Live{Entry: skill.Entry{Name: "hook:~:x.sh"}, Doc: doc(t, text("commit"))},
			Spec: agent.Spec{}, Budget: eval.NewBudget(eval.Caps{}, time.Now), Sessions: all, Play: p.play, Now: func() time.Time { return now },
			Options: hooks.Options{Seed: -1, Calls: 2, Patience: 2, Weight: 5, Event: "PreToolUse"}}
		if err := r.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		return r
	}
	do := func(r *hooks.Run, m eval.Model) error {
		_, err := r.Do(t.Context(), func(string) eval.Model { return m })
		return err
	}
	all := sessions(30)
	first := begin(all[10:20])
	searched, held := first.Divide()
	if len(searched) != 6 || len(held) != 4 {
		t.Fatalf("%d to search, %d held", len(searched), len(held))
	}
	if err := do(first, broken{}); !unanswered(err) {
		t.Fatal(err)
	}

	// Older sessions got labels meanwhile, and newer ones took place.
	again := begin(all)
	search, held := again.Divide()
	if got := ids(search); !slices.Equal(got, ids(searched)) {
		t.Errorf("it searches in %v, and began with %v", got, ids(searched))
	}
	if len(held) != 24 {
		t.Errorf("%d of 24 sessions are kept", len(held))
	}
	if err := do(begin(all[13:20]), broken{}); !unanswered(err) { // some are not read this time
		t.Fatal(err)
	}
	search, _ = begin(all).Divide()
	if got := ids(search); !slices.Equal(got, ids(searched)) {
		t.Errorf("what was not there for a time may be heard: %v", got)
	}
}
