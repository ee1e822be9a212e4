package judge

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest/redact"
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
	db := open(t)
	var cases []eval.Case
	judge := &muttering{}
	runs := 0
	calls := func(reviews, n int) (asked []int64) {
		t.Helper()
		cases = append(cases, owner(t, db, len(cases), reviews)...)
		for range n {
			runs++
			id := fmt.Sprint("r", runs)
			if err := db.Journal(id).SaveRun(t.Context(), &record.Run{ID: id, Skill: "s"}); err != nil {
				t.Fatal(err)
			}
			before := judge.calls.Load()
			c, err := New(db, id, judge, redact.Detector{}, eval.NewBudget(eval.Caps{}, nil), 0, 4).Calibrate(t.Context(), "s", cases)
			if err != nil || c.Labels.N() != 0 || c.Missing != reviews {
				t.Fatalf("%+v, %v", c, err)
			}
			asked = append(asked, judge.calls.Load()-before)
		}
		return asked
	}
	if got, want := fmt.Sprint(calls(20, 6)), "[80 80 80 0 0 0]"; got != want {
		t.Errorf("calls of six runs: %s, want %s: two tries for both orders of 20 labels", got, want)
	}
	if got, want := fmt.Sprint(calls(22, 4)), "[88 88 88 0]"; got != want {
		t.Errorf("with two more labels: %s, want %s", got, want)
	}
}
