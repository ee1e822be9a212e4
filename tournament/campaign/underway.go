package campaign

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/lock"
)

// noteCalls records a run's calls while they are in progress, and counts
// those of its earlier processes that were never answered. The caller must
// call stop.
func noteCalls(ctx context.Context, db *store.Store, run string, budget *eval.Budget, lease *lock.Lease) (stop func(), err error) {
	u, calls, reserved, err := db.Underway(ctx, run)
	if err != nil {
		return nil, err
	}
	if calls > 0 {
		budget.Assume(calls, reserved)
	}
	budget.Note(leasedCalls{u, lease, ctx})
	return func() { _ = u.Close() }, nil // what stays behind counts, which is safe
}

// leasedCalls are the calls of a run under the lease of a night, if there is
// one: a process that was suspended and has lost the night to another one
// begins none. A look-up in the records precedes many calls, this check each
// one.
type leasedCalls struct {
	eval.Underway
	lease *lock.Lease
	ctx   context.Context
}

// Begin implements eval.Underway.
func (c leasedCalls) Begin(key string, reserved eval.Assumed) error {
	if err := c.lease.Held(c.ctx); err != nil {
		return err
	}
	return c.Underway.Begin(key, reserved)
}
