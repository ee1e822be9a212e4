package eval

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"testing/synctest"
	"time"
)

// replies are what a memory holds, by name.
func (m *memory) replies() map[string]Completion {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := map[string]Completion{}
	for name, c := range m.completions {
		out[name] = *c
	}
	return out
}

// What a run recorded is charged before it asks anything, failed calls included, and
// not once more when it meets its records again.
func TestRecordedRepliesAreChargedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		model := modelFunc(func(context.Context, Prompt) (Completion, error) {
			calls++
			c := Completion{Text: "r", Finish: "stop", Usage: &Usage{Input: 100, Output: 10}, CostUSD: ptr(0.25)}
			if calls%3 == 2 { // it took something, and then the server failed
				return c, &InfraError{Kind: ServerError, Err: errors.New("overloaded")}
			}
			if calls%3 == 0 {
				c.Usage = nil
			}
			return c, nil
		})
		rec := newMemory(true)
		ask := func(b *Budget, n int) {
			t.Helper()
			m := &Metered{Model: model, By: ByMiner, Budget: b, Recorder: rec, Scope: "run"}
			for i := range n {
				if _, err := m.Complete(t.Context(), Prompt{User: fmt.Sprint(i)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		first := NewBudget(Caps{}, time.Now)
		ask(first, 4)
		want, wantAssumed := first.Spent(), first.Assumed()
		if want.MinerCalls != 6 || want.Uncounted != 2 || want.TokensIn != 400 || want.CostUSD != 1.5 {
			t.Fatalf("spent %+v", want)
		}
		for name, known := range map[string]bool{"charged first": true, "met on the way": false} {
			b := NewBudget(Caps{}, time.Now)
			if known {
				for range 2 {
					if err := b.ChargeRecorded(ByMiner, rec.replies()); err != nil {
						t.Fatal(err)
					}
				}
			}
			ask(b, 4)
			got := b.Spent()
			got.WallMS = want.WallMS // a pause before a second try is no call
			if got != want || known && b.Assumed().Tokens < wantAssumed.Tokens || calls != 6 {
				t.Errorf("%s: spent %+v after %d calls, want %+v after 6", name, got, calls, want)
			}
		}
		if err := first.ChargeRecorded(ByMiner, map[string]Completion{"no name": {}}); err == nil {
			t.Error("a name that no record has was charged")
		}
	})
}

// A rollout that is missing is tried again by a resumed run, once its record was
// removed: what it took stays on the bill.
func TestWhatAForgottenRolloutTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := true
		agent := agentFunc(func(context.Context, Task) (Attempt, error) {
			a := Attempt{Answer: "a", Usage: &Usage{Output: 40}, CostUSD: ptr(0.25)}
			if down {
				return a, &InfraError{Kind: ServerError, Err: errors.New("overloaded")}
			}
			return a, nil
		})
		rec := newMemory(true)
		run := func() Spent {
			t.Helper()
			b := NewBudget(Caps{}, time.Now)
			e := &Evaluator{Agent: agent, Grader: new(Checks), Budget: b, InfraTries: 2, MaxMissing: 1, Recorder: rec}
			if _, err := e.Run(t.Context(), jobsOf(testCases(1))); err != nil {
				t.Fatal(err)
			}
			return b.Spent()
		}
		if s := run(); s.TokensOut != 80 {
			t.Fatalf("spent %+v", s)
		}
		for key, r := range maps.Clone(rec.rollouts) {
			if r.Status != Missing {
				t.Fatalf("%+v is not missing", r)
			}
			name, c, err := LostRecord(t.Context(), rec, r)
			if err != nil || c == nil {
				t.Fatal(c, err)
			}
			rec.completions[name] = c
			delete(rec.rollouts, key)
		}
		down = false
		if s := run(); s.TokensOut != 120 || s.CostUSD != 0.75 {
			t.Errorf("resumed: spent %+v, want what the two lost calls took, too", s)
		}
	})
}

// The attempts of a missing rollout count against the cap on rollouts each time it is
// tried again, even if it reported no usage.
func TestAttemptsOfForgottenRolloutsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		agent := agentFunc(func(context.Context, Task) (Attempt, error) {
			attempts++
			return Attempt{Answer: "a"}, nil
		})
		judge := modelFunc(func(context.Context, Prompt) (Completion, error) {
			return Completion{}, &InfraError{Kind: ServerError, Err: errors.New("down")}
		})
		c := &Case{ID: "c", Skill: "s", Prompt: "p", Checks: []Check{{Type: Judge, Rubric: "r"}}}
		rec := newMemory(true)
		for n := range 6 {
			b := NewBudget(Caps{Rollouts: 4}, time.Now)
			e := &Evaluator{Agent: agent, Grader: &Checks{Judge: judge}, Budget: b, InfraTries: 2, MaxMissing: 1, Recorder: rec}
			_, err := e.Run(t.Context(), jobsOf([]*Case{c}))
			if stop := errors.As(err, new(*BudgetError)); stop != (n >= 4) || !stop && err != nil {
				t.Fatalf("part %d, after %d attempts: %v", n, attempts, err)
			}
			if s := b.Spent(); s.Rollouts != int64(attempts) || s.Uncounted != s.Rollouts || b.Assumed().Tokens == 0 {
				t.Errorf("part %d: %d attempts were made, told %+v", n, attempts, s)
			}
			for key, r := range maps.Clone(rec.rollouts) {
				name, c, err := LostRecord(t.Context(), rec, r)
				if err != nil {
					t.Fatal(err)
				}
				rec.completions[name] = c
				delete(rec.rollouts, key)
			}
		}
		if attempts != 4 {
			t.Errorf("%d attempts under a cap of 4", attempts)
		}
	})
}
