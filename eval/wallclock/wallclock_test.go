package wallclock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, wait := range map[string]func(context.Context) error{
			"done":    func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			"polling": func(ctx context.Context) error { time.Sleep(time.Minute); return ctx.Err() },
			"derived": func(ctx context.Context) error {
				sub, cancel := context.WithCancel(ctx)
				defer cancel()
				begun := time.Now()
				<-sub.Done()
				if cause := context.Cause(sub); time.Since(begun) == time.Minute && cause != errOver {
					t.Errorf("cause = %v", cause)
				}
				return sub.Err()
			},
		} {
			begun := time.Now()
			ranOut, err := Within(t.Context(), begun, time.Minute, wait)
			if !ranOut || !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Minute {
				t.Errorf("%s: ran out %v after %v, %v", name, ranOut, time.Since(begun), err)
			}
			parent, cancel := context.WithTimeout(t.Context(), time.Second)
			ranOut, err = Within(parent, time.Now(), time.Minute, wait)
			cancel()
			if ranOut || err == nil {
				t.Errorf("%s: ran out %v, though the parent ended it (%v)", name, ranOut, err)
			}
		}
		ranOut, err := Within(t.Context(), time.Now(), time.Minute, func(ctx context.Context) error {
			if at, ok := ctx.Deadline(); !ok || time.Until(at) != time.Minute {
				t.Errorf("deadline %v %v", at, ok)
			}
			return ctx.Err()
		})
		if ranOut || err != nil {
			t.Errorf("in time: %v, %v", ranOut, err)
		}
	})
}
