package sleep

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestClockThatRanAhead: a night that began with a clock of next year has ended; the
// one after it was interrupted, and is the one that is continued.
func TestClockThatRanAhead(t *testing.T) {
	now := evening.AddDate(1, 0, 0)
	j, kill := Stored(openStore(t)), false
	c := &Cycle{Journal: j, Now: func() time.Time { return now }, Owner: "a", RunID: func() string { return "r" },
		Parts: Parts{
			Skills: func(context.Context) ([]string, error) { return nil, nil },
			Harvest: func(context.Context) (int, string, error) {
				if kill {
					return 0, "", errors.New("interrupted")
				}
				return 0, "", nil
			},
		}}
	ahead, err := c.Run(t.Context(), Plan{Policy: Auto})
	if err != nil || ahead.Ended.IsZero() {
		t.Fatalf("night %s, %v", ahead.ID, err)
	}
	now, kill = evening, true
	broken, err := c.Run(t.Context(), Plan{Policy: Auto})
	if err == nil || broken.ID == ahead.ID {
		t.Fatalf("night %s, %v; want another night, interrupted", broken.ID, err)
	}
	now, kill = evening.Add(time.Hour), false
	if n, err := c.Run(t.Context(), Plan{Policy: Auto}); err != nil || n.ID != broken.ID || n.TakenOver != 1 || n.Ended.IsZero() {
		t.Errorf("night %s, %v; want %s gone on with to its end", n.ID, err, broken.ID)
	}
	if n, err := c.Run(t.Context(), Plan{Policy: Auto}); err != nil || n.ID == broken.ID || n.ID == ahead.ID {
		t.Errorf("night %s, %v; want a new night", n.ID, err)
	}
}
