package eval

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestMetered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := newMemory(true)
		b := NewBudget(Caps{Tokens: 200}, nil)
		inner := &judge{replies: []Completion{{Text: "one"}, {Text: "two"}, {Text: "three"}},
			errs: []error{&InfraError{Kind: RateLimited, Err: errors.New("busy")}}}
		m := &Metered{Model: inner, By: ByMutator, Budget: b, Recorder: rec, Scope: "run-1", Redactor: masking{}}
		p := Prompt{User: "improve hunter2", Seed: 3}
		c, err := m.Complete(t.Context(), p)
		if err != nil || c.Text != "two" { // the first call failed
			t.Fatalf("reply %+v (%v)", c, err)
		}
		if inner.prompts[0].User != "improve [secret]" {
			t.Errorf("sent %q", inner.prompts[0].User)
		}
		again, err := m.Complete(t.Context(), p)
		if err != nil || again.Text != "two" || len(inner.prompts) != 2 {
			t.Errorf("the same prompt again: %+v (%v)", again, err)
		}
		if s := b.Spent(); s.MutatorCalls != 1 || s.TokensIn != 100 || s.Rollouts != 0 {
			t.Errorf("spent = %+v, want one call", s)
		}
		// Resumed: found, and booked as it was.
		resumed := NewBudget(Caps{}, nil)
		m2 := *m
		m2.Budget = resumed
		if c, err := m2.Complete(t.Context(), p); err != nil || c.Text != "two" {
			t.Errorf("resumed: %+v (%v)", c, err)
		}
		live, found := b.Spent(), resumed.Spent()
		live.WallMS, found.WallMS = 0, 0
		if live != found {
			t.Errorf("live %+v, resumed %+v", live, found)
		}
		// Another seed or scope is another reply, and no longer fits the cap.
		p.Seed = 4
		if _, err := m.Complete(t.Context(), p); !errors.As(err, new(*BudgetError)) {
			t.Errorf("err = %v, want the budget's", err)
		}
		m2.Scope = "run-2"
		p.Seed = 3
		if c, err := m2.Complete(t.Context(), p); err != nil || c.Text != "three" {
			t.Errorf("another scope: %+v (%v)", c, err)
		}
	})
}

func TestMeteredFailure(t *testing.T) {
	b := NewBudget(Caps{Tokens: 1000}, nil)
	bad := &InfraError{Kind: Auth, Err: errors.New("no")}
	inner := &judge{replies: []Completion{{}}, errs: []error{bad}}
	m := &Metered{Model: inner, By: ByMiner, Budget: b}
	if _, err := m.Complete(t.Context(), Prompt{User: "x"}); !errors.Is(err, bad) || len(inner.prompts) != 1 {
		t.Errorf("err = %v after %d calls", err, len(inner.prompts))
	}
	if s := b.Spent(); s.MinerCalls != 0 || b.inFlight != 0 {
		t.Errorf("spent = %+v, %d in flight", s, b.inFlight)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	inner.errs = append(inner.errs, context.Canceled)
	if _, err := m.Complete(ctx, Prompt{User: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}
