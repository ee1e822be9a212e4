package main

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
)

// noteCalls has a run's calls noted while they are under way, and counts those of its
// earlier processes that were never answered. The caller must call stop.
func noteCalls(ctx context.Context, db *store.Store, run string, budget *eval.Budget) (stop func(), err error) {
	u, calls, reserved, err := db.Underway(ctx, run)
	if err != nil {
		return nil, err
	}
	if calls > 0 {
		budget.Assume(calls, reserved)
	}
	budget.Note(u)
	return func() { _ = u.Close() }, nil // what stays behind counts, which is safe
}
