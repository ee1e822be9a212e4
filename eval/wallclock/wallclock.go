// Package wallclock limits how long a call may take.
package wallclock

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errOver is the cause of a context that its wall clock ended.
var errOver = errors.New("wall clock")

// A limited is a context that ends at a time. Unlike context.WithDeadline it starts
// no timer before its end is waited for: an agent that answers within this process
// never waits for it, and the timer would be the larger part of such a rollout.
type limited struct {
	context.Context // the parent
	end             time.Time

	mu     sync.Mutex
	timed  context.Context // with the deadline; nil until it is needed
	cancel context.CancelFunc
}

func (w *limited) start() context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timed == nil {
		w.timed, w.cancel = context.WithDeadlineCause(w.Context, w.end, errOver)
	}
	return w.timed
}

func (w *limited) started() context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.timed
}

// stop frees the timer, if there is one.
func (w *limited) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel != nil {
		w.cancel()
	}
}

// ranOut reports whether a caller has seen that the time is over.
func (w *limited) ranOut() bool {
	t := w.started()
	return t != nil && context.Cause(t) == errOver
}

func (w *limited) Deadline() (time.Time, bool) {
	if at, ok := w.Context.Deadline(); ok && at.Before(w.end) {
		return at, true
	}
	return w.end, true
}

func (w *limited) Done() <-chan struct{} { return w.start().Done() }

func (w *limited) Err() error {
	if t := w.started(); t != nil {
		return t.Err()
	}
	if err := w.Context.Err(); err != nil || time.Now().Before(w.end) {
		return err
	}
	return w.start().Err()
}

// Value searches the timed context if there is one, so that contexts derived from w
// need no goroutine of their own.
func (w *limited) Value(key any) any {
	if t := w.started(); t != nil {
		return t.Value(key)
	}
	return w.Context.Value(key)
}

// Within calls f with a context that ends after limit, counted from begun, or
// from now if that is zero; a limit of 0 is none. ranOut reports that the limit, and
// not ctx, ended it.
func Within(ctx context.Context, begun time.Time, limit time.Duration, f func(context.Context) error) (ranOut bool, err error) {
	if limit <= 0 {
		return false, f(ctx)
	}
	if begun.IsZero() {
		begun = time.Now()
	}
	w := &limited{Context: ctx, end: begun.Add(limit)}
	defer w.stop()
	err = f(w)
	return ctx.Err() == nil && w.ranOut(), err
}
