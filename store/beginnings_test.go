package store

import (
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/record"
)

// TestBeginnings: a run that has begun is found until it is saved, or has ended
// before that; the newest one of a skill counts.
func TestBeginnings(t *testing.T) {
	s, ctx := open(t), t.Context()
	begun := func(skill, want string) {
		t.Helper()
		if got, err := s.BegunRun(ctx, skill); err != nil || got != want {
			t.Errorf("of %s, %q has begun, %v; want %q", skill, got, err, want)
		}
	}
	begun("a", "")
	must(t, s.BeginRun(ctx, "a", "one"))
	must(t, s.BeginRun(ctx, "b", "other"))
	must(t, s.BeginRun(ctx, "a", "two"))
	begun("a", "two")
	must(t, s.DropBegun(ctx, "one"))
	begun("a", "two")
	must(t, s.Journal("two").SaveRun(ctx, &record.Run{ID: "two", Skill: "a"}))
	begun("a", "")
	begun("b", "other")
	must(t, s.DropBegun(ctx, "other"))
	begun("b", "")
}

// TestRunTimes: the time of a run never becomes less, and is its own.
func TestRunTimes(t *testing.T) {
	s, ctx := open(t), t.Context()
	for _, used := range []time.Duration{2 * time.Second, time.Second} {
		must(t, s.SaveRunTime(ctx, "r", used))
		if got, err := s.RunTime(ctx, "r"); err != nil || got != 2*time.Second {
			t.Errorf("%v, %v; want 2 s", got, err)
		}
	}
	if got, err := s.RunTime(ctx, "another"); err != nil || got != 0 {
		t.Errorf("another run took %v, %v", got, err)
	}
}

// TestRecorded: replies come back under their names, those of one run and spender.
func TestRecorded(t *testing.T) {
	s, ctx := open(t), t.Context()
	save := func(run, key string, by eval.Spender) {
		must(t, s.Journal(run).SaveCompletion(ctx, key, by, &eval.Completion{Text: run + key}))
	}
	save("r", "k1", eval.ByMiner)
	save("r", "k2", eval.ByMiner)
	save("r", "k3", eval.ByMutator)
	save("q", "k4", eval.ByMiner)
	got, err := s.Recorded(ctx, "r", eval.ByMiner)
	if err != nil || len(got) != 2 || got["k1"].Text != "rk1" || got["k2"].Text != "rk2" {
		t.Errorf("%v, %v; want the two of the miner's", got, err)
	}
}
