package store

import (
	"encoding/json"
	"errors"
	"testing"
	"time"
)

// TestSleepLease: one owner at a time; who is taken over is told at its next
// write, and has changed nothing.
func TestSleepLease(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	alive := func(string) bool { return false }
	first, err := s.TakeSleepLease(ctx, "a", day, day.Add(time.Minute), alive)
	must(t, err)
	must(t, s.SaveNight(ctx, first.Generation, "n1", day, json.RawMessage(`{"by":"a"}`)))

	var held *LeaseHeldError
	if _, err := s.TakeSleepLease(ctx, "b", day, day.Add(time.Minute), alive); !errors.As(err, &held) || held.Lease.Owner != "a" {
		t.Fatalf("a second owner: %v, want it held by a", err)
	}
	must(t, s.RenewSleepLease(ctx, first, day.Add(2*time.Minute)))
	if _, err := s.TakeSleepLease(ctx, "b", day.Add(90*time.Second), day.Add(time.Hour), alive); !errors.As(err, &held) {
		t.Fatalf("after a renewal: %v, want it held", err)
	}

	second, err := s.TakeSleepLease(ctx, "b", day.Add(2*time.Minute), day.Add(time.Hour), alive)
	must(t, err)
	if second.Generation <= first.Generation {
		t.Errorf("generation %d after %d", second.Generation, first.Generation)
	}
	for what, err := range map[string]error{
		"save":    s.SaveNight(ctx, first.Generation, "n1", day, json.RawMessage(`{"by":"late a"}`)),
		"state":   s.SaveSleepState(ctx, first.Generation, "dataviz", json.RawMessage(`{}`)),
		"renew":   s.RenewSleepLease(ctx, first, day.Add(time.Hour)),
		"release": s.ReleaseSleepLease(ctx, first),
	} {
		if !errors.Is(err, ErrLeaseLost) {
			t.Errorf("%s by the old owner: %v, want ErrLeaseLost", what, err)
		}
	}
	if ns, err := s.Nights(ctx, 0); err != nil || len(ns) != 1 || string(ns[0]) != `{"by":"a"}` {
		t.Errorf("nights %s, %v", ns, err)
	}

	// A dead owner's is taken at once.
	third, err := s.TakeSleepLease(ctx, "c", day.Add(3*time.Minute), day.Add(time.Hour), func(owner string) bool { return owner == "b" })
	must(t, err)
	must(t, s.SaveSleepState(ctx, third.Generation, "dataviz", json.RawMessage(`{"x":1}`)))
	if st, err := s.SleepState(ctx, "dataviz"); err != nil || string(st) != `{"x":1}` {
		t.Errorf("state %s, %v", st, err)
	}
	if st, err := s.SleepState(ctx, "other"); err != nil || st != nil {
		t.Errorf("state of a skill without one: %s, %v", st, err)
	}
	must(t, s.ReleaseSleepLease(ctx, third))
	if l, err := s.SleepLeaseNow(ctx); err != nil || l.Owner != "" {
		t.Errorf("after the release: %+v, %v", l, err)
	}
}
