package sleep

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/store/lock"
)

// TestOneCycleAtATime: a second process is refused while the first one lives, and
// continues its night once it is dead.
func TestOneCycleAtATime(t *testing.T) {
	j := Stored(openStore(t))
	if _, err := j.Acquire(t.Context(), "other", evening, evening.Add(time.Minute), func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	h := &house{}
	c := h.cycle(j)
	var held *HeldError
	if _, err := c.Run(t.Context(), Plan{}); !errors.As(err, &held) || held.Lease.Owner != "other" || h.harvests != 0 {
		t.Fatalf("beside another cycle: %v after %d harvests, want it refused", err, h.harvests)
	}
	c.Now = func() time.Time { return evening.Add(2 * time.Minute) }
	if _, err := c.Run(t.Context(), Plan{}); err != nil || h.harvests != 1 {
		t.Fatalf("after the lease: %v, %d harvests", err, h.harvests)
	}
}

// TestTakenOver: a process that slept through its lease stops at its next write,
// and leaves what the other one wrote alone.
func TestTakenOver(t *testing.T) {
	j := Stored(openStore(t))
	h := &house{outlooks: map[string]Outlook{"a": failing("a", 90)}, results: map[string]Result{"a": proved(10)}}
	c := h.cycle(j)
	p := c.Parts
	c.Parts.Try = func(ctx context.Context, k Task) (Result, error) {
		if _, err := j.Acquire(ctx, "other", evening.Add(time.Hour), evening.Add(2*time.Hour), func(string) bool { return false }); err != nil {
			t.Fatal(err)
		}
		return p.Try(ctx, k)
	}
	if _, err := c.Run(t.Context(), Plan{Policy: Auto}); !errors.Is(err, lock.ErrLost) {
		t.Fatalf("error %v, want ErrLost", err)
	}
	if len(h.installed) != 0 {
		t.Errorf("installed %v without the lease", h.installed)
	}
}

// TestSuspended: a process that slept through its lease detects that before
// it spends or writes anything more, and reports it once.
func TestSuspended(t *testing.T) {
	j := Stored(openStore(t))
	h := &house{outlooks: map[string]Outlook{"a": failing("a", 90)}}
	c := h.cycle(j)
	now := evening
	c.Now = func() time.Time { return now }
	c.Parts.Try = func(ctx context.Context, task Task) (Result, error) {
		if err := task.Lease.Held(ctx); err != nil || task.Lease.Generation() == 0 {
			t.Errorf("in its night: %v", err)
		}
		now = now.Add(90 * time.Second) // it is still ours, and is renewed
		if err := task.Lease.Held(ctx); err != nil {
			t.Errorf("after a while: %v", err)
		}
		var held *HeldError
		if _, err := j.Acquire(ctx, "other", now.Add(time.Minute), now.Add(time.Hour), func(string) bool { return false }); !errors.As(err, &held) {
			t.Errorf("it was not renewed: %v", err)
		}
		now = now.Add(time.Hour)
		if _, err := j.Acquire(ctx, "other", now, now.Add(time.Hour), func(string) bool { return false }); err != nil {
			t.Fatal(err)
		}
		err := task.Lease.Held(ctx)
		if !errors.Is(err, lock.ErrLost) || ctx.Err() == nil || !errors.Is(task.Lease.Held(ctx), lock.ErrLost) {
			t.Errorf("after it was taken over: %v, %v", err, ctx.Err())
		}
		return Result{}, err
	}
	_, err := c.Run(t.Context(), Plan{})
	if !errors.Is(err, lock.ErrLost) || err.Error() != lock.ErrLost.Error() {
		t.Errorf("it says %q, want %q", err, lock.ErrLost)
	}
}
