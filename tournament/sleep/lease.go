package sleep

import (
	"cmp"
	"context"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store/lock"
)

// hold takes the lease and renews it until stop is called. ctx ends with
// lock.ErrLost if it cannot be renewed: after an hour's sleep of the machine,
// another process may have continued.
func (c *Cycle) hold(ctx *context.Context) (Lease, func(), error) {
	span := cmp.Or(c.Lease, 2*time.Minute)
	dead := c.Dead
	if dead == nil {
		dead = func(string) bool { return false }
	}
	now := c.Now()
	l, err := c.Journal.Acquire(*ctx, c.Owner, now, now.Add(span), dead)
	if err != nil {
		return l, nil, err
	}
	under, cancel := context.WithCancelCause(*ctx)
	c.held = lock.NewLease(l.Generation, span, c.Now, func(ctx context.Context, until time.Time) error {
		return c.Journal.Renew(ctx, l, until)
	}, cancel)
	*ctx = under
	held := c.held
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(span / 4)
		defer tick.Stop()
		for {
			select {
			case <-under.Done():
				return
			case <-tick.C:
			}
			if err := eval.Shielded(func() error { return held.Renew(under, 0) }); err != nil {
				cancel(err) // again, if it panicked
				return
			}
		}
	}()
	return l, func() {
		cancel(nil)
		<-ended
		// If it is not released, it expires by itself.
		_ = c.Journal.Release(context.WithoutCancel(under), l)
	}, nil
}
