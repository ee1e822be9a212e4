package eval

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// longestPause is the longest pause that a server may ask for; one that asks for more
// is taken to be unavailable.
const longestPause = 10 * time.Minute

// gaveUp reports that the infrastructure failed as often as it may.
type gaveUp struct {
	tries int
	err   error
}

func (e *gaveUp) Error() string {
	if e.tries == 1 {
		return e.err.Error()
	}
	return fmt.Sprintf("gave up after %d tries: %v", e.tries, e.err)
}

func (e *gaveUp) Unwrap() error { return e.err }

// hopeless reports whether another try would fail too, now or for any other call.
func hopeless(err error) bool {
	var infra *InfraError
	if !errors.As(err, &infra) {
		return false
	}
	switch infra.Kind {
	case Auth, BadRequest, UsageLimit, Refused:
		return true
	}
	return false
}

// IsPending reports whether err means that a request waits for its answer (an
// *InfraError of kind Pending). It is no failure: the same call, made later, finds the
// answer.
func IsPending(err error) bool {
	var infra *InfraError
	return errors.As(err, &infra) && infra.Kind == Pending
}

// fatal marks an error that is no infrastructure failure and must not be
// retried.
type fatal struct{ error }

func (e fatal) Unwrap() error { return e.error }

// persist makes a call until it succeeds. Between tries it pauses exponentially longer,
// with jitter, or as long as the server asked. failed counts the failed calls. The
// error is a *gaveUp after the last try, ctx's if ctx ended, or the call's own if
// another try is hopeless or its answer is pending. If the time that b allows is over,
// or the usage of the failed calls (lost, which b has not booked yet) uses up a cap, no
// call is made again and the error is a *BudgetError. A call that panics is a bug, and
// is not made again: the error is a *PanicError.
func persist(ctx context.Context, b *Budget, tries int, failed *int, lost *Lost, call func() error) error {
	if tries <= 0 {
		tries = 5
	}
	var pause *backoff.ExponentialBackOff
	for n := 1; ; n++ {
		err := Shielded(call)
		if err == nil || errors.As(err, new(*PanicError)) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if f, ok := err.(fatal); ok {
			return f.error
		}
		if IsPending(err) {
			return err
		}
		*failed++
		if hopeless(err) {
			return err
		}
		var infra *InfraError
		var asked time.Duration
		if errors.As(err, &infra) {
			asked = infra.RetryAfter
		}
		if n >= tries || asked > longestPause {
			return &gaveUp{tries: n, err: err}
		}
		if pause == nil {
			pause = backoff.NewExponentialBackOff()
			pause.InitialInterval, pause.Multiplier = time.Second, 2
		}
		wait := pause.NextBackOff()
		if asked > 0 {
			// The pause that the server asks for is a lower bound; the jitter keeps
			// waiting calls from returning all at once.
			asked += rand.N(asked/10 + 1)
			if n == 1 {
				wait = asked
			}
			wait = max(wait, asked)
		}
		if late := b.late(wait, *lost); late != nil {
			return fmt.Errorf("%w; the last try failed: %v", late, err)
		}
		if err := Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// Sleep waits for d, unless ctx ends first; the error is ctx's.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
