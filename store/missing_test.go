package store

import (
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// A process that ends between keeping what a missing rollout took and removing it
// leaves neither done: the next one counts it once.
func TestForgetMissingIsOneStep(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	j := s.Journal("r1")
	r := &eval.Rollout{Key: "k", Candidate: "aa", CaseID: "a", Status: eval.Missing, Attempts: 2, Usage: &eval.Usage{Output: 40}}
	must(t, j.SaveRollout(ctx, r))
	forget := func() error {
		name, c, err := eval.LostRecord(ctx, j, r)
		must(t, err)
		_, err = s.ForgetMissing(ctx, "r1", map[string]*eval.Completion{name: c})
		return err
	}
	sql := func(q string) {
		must(t, s.Do(ctx, func(t *tx) error { _, err := t.Exec(q); return err }))
	}
	sql(`CREATE TRIGGER stop BEFORE DELETE ON rollouts BEGIN SELECT RAISE(ABORT, 'gone'); END`)
	if err := forget(); err == nil {
		t.Fatal("the rollout was removed all the same")
	}
	if kept, err := s.Recorded(ctx, "r1", eval.ByAgent); err != nil || len(kept) != 0 {
		t.Errorf("kept %+v, %v, and the rollout is still there", kept, err)
	}
	sql(`DROP TRIGGER stop`)
	must(t, forget())
	kept, err := s.Recorded(ctx, "r1", eval.ByAgent)
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept %+v, %v; want one", kept, err)
	}
	for _, c := range kept {
		if c.Attempts != 2 || c.Usage == nil || c.Usage.Output != 40 {
			t.Errorf("kept %+v", c)
		}
	}
	if got, _, err := j.Rollout(ctx, "k"); got != nil || err != nil {
		t.Errorf("the rollout is still there: %+v, %v", got, err)
	}
}
