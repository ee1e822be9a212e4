package campaign

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// A dozer is an agent whose machine sleeps during its first call.
type dozer struct {
	calls int
	sleep func()
}

func (*dozer) Identity() eval.Identity { return eval.Identity{Backend: "dozer"} }

func (d *dozer) Run(context.Context, eval.Task) (eval.Attempt, error) {
	if d.calls++; d.calls == 1 {
		d.sleep()
	}
	return eval.Attempt{Answer: "yes"}, nil
}

// TestNoCallAfterTheNightWasLost: a process that sleeps in the middle of a batch of
// rollouts, and loses its night to another one, begins none of the others.
func TestNoCallAfterTheNightWasLost(t *testing.T) {
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	now := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
	c := &sleep.Cycle{Journal: sleep.Stored(db), Owner: "first", Now: func() time.Time { return now }}
	agent := &dozer{}
	agent.sleep = func() {
		now = now.Add(time.Hour)
		if _, err := c.Journal.Acquire(t.Context(), "second", now, now.Add(time.Hour), func(string) bool { return false }); err != nil {
			t.Error(err)
		}
	}
	doc, err := skill.Parse([]byte("---\nname: s\ndescription: d\n---\n# S\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var jobs []eval.Job
	for _, id := range []string{"a", "b", "c"} {
		jobs = append(jobs, eval.Job{Variant: eval.Variant{Name: "s", Doc: doc},
			Case: &eval.Case{ID: id, Skill: "s", Prompt: id, Checks: []eval.Check{{Type: eval.Contains, Value: "yes"}}}})
	}
	kept := 0
	l, err := c.Journal.Acquire(t.Context(), "first", now, now.Add(2*time.Minute), func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	lease := lock.NewLease(l.Generation, 2*time.Minute, c.Now, func(ctx context.Context, until time.Time) error { return c.Journal.Renew(ctx, l, until) }, cancel)
	budget := eval.NewBudget(eval.Caps{}, nil)
	record, err := NewRecord(ctx, db, "r", budget, 0, lease)
	if err != nil {
		t.Fatal(err)
	}
	rollouts, err := (&eval.Evaluator{Agent: agent, Grader: &eval.Checks{}, Budget: budget, Recorder: record.Journal()}).Run(ctx, jobs)
	record.Close()
	for _, r := range rollouts {
		if r != nil {
			kept++
		}
	}
	if !errors.Is(err, lock.ErrLost) {
		t.Errorf("it ended with %v, want %v", err, lock.ErrLost)
	}
	if agent.calls != 1 || kept != 1 {
		t.Errorf("%d calls, %d answers kept; want the one that was under way", agent.calls, kept)
	}
}
