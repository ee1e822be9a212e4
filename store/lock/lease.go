package lock

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrLost means that another process has taken a lease over.
var ErrLost = errors.New("the cycle was taken over by another process")

// A Lease is the right of one process to run a night; it has to be renewed. A nil Lease
// is for work outside of nights: it is always held.
type Lease struct {
	generation int64
	span       time.Duration
	now        func() time.Time
	renew      func(ctx context.Context, until time.Time) error
	cancel     context.CancelCauseFunc

	mu   sync.Mutex
	last time.Time // renewed
	lost error
}

// NewLease is a lease that was taken just now, for span. renew extends it, and returns
// ErrLost if another process has it; cancel ends the work under it once it cannot be
// renewed.
func NewLease(generation int64, span time.Duration, now func() time.Time, renew func(ctx context.Context, until time.Time) error, cancel context.CancelCauseFunc) *Lease {
	return &Lease{generation: generation, span: span, now: now, renew: renew, cancel: cancel, last: now().Round(0)}
}

// Generation grows with every owner of the lease; 0 is none.
func (l *Lease) Generation() int64 {
	if l == nil {
		return 0
	}
	return l.generation
}

// Held reports whether this process still has the lease, and renews it if that was not
// done for some time. Work under a lease calls this before it spends or writes
// anything, because another process may have continued while the machine slept. Errors:
// ErrLost, renew's.
func (l *Lease) Held(ctx context.Context) error {
	if l == nil {
		return nil
	}
	return l.Renew(context.WithoutCancel(ctx), l.span/2)
}

// Renew renews the lease if the last renewal is older than age by the wall clock, which
// continues while a machine sleeps. If the lease cannot be renewed, all work under it
// ends.
func (l *Lease) Renew(ctx context.Context, age time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now().Round(0)
	if since := now.Sub(l.last); l.lost != nil || 0 <= since && since < age {
		return l.lost
	}
	if err := l.renew(ctx, now.Add(l.span)); err != nil {
		if l.cancel(err); errors.Is(err, ErrLost) {
			l.lost = err
		}
		return err
	}
	l.last = now
	return nil
}
