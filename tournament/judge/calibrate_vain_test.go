package judge

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A muttering judge is one without a readable reply.
type muttering struct{ calls atomic.Int64 }

func (*muttering) Identity() eval.Identity { return eval.Identity{Backend: "test", Model: "muttering"} }

func (j *muttering) Complete(context.Context, eval.Prompt) (eval.Completion, error) {
	j.calls.Add(1)
	return eval.Completion{Text: "Well.", Finish: "stop"}, nil
}

// TestCalibrateInVain: a judge that gives no readable reply is asked about the same
// labels by three runs, and by no later one before there are other labels.
func TestCalibrateInVain(t *testing.T) {
	ctx := t.Context()
	db, err := store.Open(ctx, filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	cases, sessions := owner(11)
	keep := func(from, to int) {
		t.Helper()
		for _, s := range sessions[from:to] {
			if err := db.SaveSession(ctx, &s); err != nil {
				t.Fatal(err)
			}
		}
	}
	judge := &muttering{}
	runs := 0
	calls := func(n int) (asked []int64) {
		t.Helper()
		for range n {
			runs++
			id := fmt.Sprint("r", runs)
			if err := db.Journal(id).SaveRun(ctx, &record.Run{ID: id, Skill: "s"}); err != nil {
				t.Fatal(err)
			}
			before := judge.calls.Load()
			c, err := New(db, id, judge, redact.Detector{}, eval.NewBudget(eval.Caps{}, nil), 0, 4).Calibrate(ctx, "s", cases)
			if err != nil || c.Labels.N() != 0 || c.Missing < 20 {
				t.Fatalf("%+v, %v", c, err)
			}
			asked = append(asked, judge.calls.Load()-before)
		}
		return asked
	}
	keep(0, 10)
	if got, want := fmt.Sprint(calls(6)), "[40 40 40 0 0 0]"; got != want {
		t.Errorf("calls of six runs: %s, want %s: two tries for each of 20 labels", got, want)
	}
	keep(10, 11)
	if got, want := fmt.Sprint(calls(4)), "[44 44 44 0]"; got != want {
		t.Errorf("with two more labels: %s, want %s", got, want)
	}
}
