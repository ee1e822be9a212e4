package sleep

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

// A held is a lease as its owner has it.
type held struct {
	lease   Lease
	journal Journal
	now     func() time.Time
	span    time.Duration
	cancel  context.CancelCauseFunc

	mu   sync.Mutex
	last time.Time // renewed
	lost error
}

type heldKey struct{}

// Held reports whether the cycle's lease that ctx was made under is still this
// process' own, asking the journal where it was not renewed for some time: what runs
// under it calls this before it spends or writes anything, for a machine that slept
// may find that another process has gone on. nil where ctx is under no lease.
// Errors: ErrLost, the journal's.
func Held(ctx context.Context) error {
	h, ok := ctx.Value(heldKey{}).(*held)
	if !ok {
		return nil
	}
	return h.check(context.WithoutCancel(ctx), h.span/2)
}

// Generation is that of the cycle's lease that ctx was made under, 0 for none.
func Generation(ctx context.Context) int64 {
	if h, ok := ctx.Value(heldKey{}).(*held); ok {
		return h.lease.Generation
	}
	return 0
}

// check renews the lease where that is so long ago by the clock on the wall, which goes
// on while a machine sleeps. A lease that cannot be renewed ends all that is under it.
func (h *held) check(ctx context.Context, age time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now().Round(0)
	if since := now.Sub(h.last); h.lost != nil || 0 <= since && since < age {
		return h.lost
	}
	if err := h.journal.Renew(ctx, h.lease, now.Add(h.span)); err != nil {
		if h.cancel(err); errors.Is(err, ErrLost) {
			h.lost = err
		}
		return err
	}
	h.last = now
	return nil
}

// hold takes the lease and renews it until stop is called. ctx ends with ErrLost
// where it cannot be renewed: a machine that slept for an hour may find that
// another process has gone on.
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
	h := &held{lease: l, journal: c.Journal, now: c.Now, span: span, cancel: cancel, last: now.Round(0)}
	*ctx = context.WithValue(under, heldKey{}, h)
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
			if err := eval.Shielded(func() error { return h.check(under, 0) }); err != nil {
				cancel(err) // again, where it panicked
				return
			}
		}
	}()
	return l, func() {
		cancel(nil)
		<-ended
		// Not given back, it expires by itself.
		_ = c.Journal.Release(context.WithoutCancel(under), l)
	}, nil
}
