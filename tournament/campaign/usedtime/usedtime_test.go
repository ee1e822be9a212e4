package usedtime

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestTimekeeper: the time is recorded during one long call, with records
// that come some time after the last, and at the end; a failure is reported.
func TestTimekeeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var saved []time.Duration
		var fails error
		began := time.Now()
		k := &Keeper{Used: func() time.Duration { return time.Since(began) },
			Save: func(_ context.Context, d time.Duration) error { saved = append(saved, d); return fails }}
		k.Start()
		record := func() {
			t.Helper()
			if err := k.Keep(t.Context(), BetweenRecords); !errors.Is(err, fails) {
				t.Fatalf("%v, want %v", err, fails)
			}
		}
		step := func(d time.Duration) { time.Sleep(d); synctest.Wait() }
		step(BetweenRecords / 2)
		record() // too early
		step(BetweenRecords / 2)
		record()
		record()
		step(betweenTicks - BetweenRecords) // the tick
		step(time.Second)
		fails = errors.New("no room")
		record()
		fails = nil
		record()
		k.End()
		step(time.Hour)
		want := []time.Duration{BetweenRecords, betweenTicks, betweenTicks + time.Second, betweenTicks + time.Second}
		if !slices.Equal(saved, want) {
			t.Errorf("saved %v, want %v", saved, want)
		}
	})
}
