package store

import (
	"testing"
	"time"
)

// A clock that jumps years ahead is not believed until it has gone on for a day; one that
// goes back, and one of somebody who was away for weeks, do no harm.
func TestBelieves(t *testing.T) {
	s := open(t)
	at := time.Date(2026, 11, 23, 4, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		after time.Duration // since at
		want  bool
	}{
		{0, true},
		{29 * 24 * time.Hour, true},
		{9 * 365 * 24 * time.Hour, false},
		{9*365*24*time.Hour + 2*time.Hour, false},
		{30 * 24 * time.Hour, true}, // mended
		{9 * 365 * 24 * time.Hour, false},
		{9*365*24*time.Hour + 25*time.Hour, true}, // it goes on
		{0, true}, // back: nothing is old by it
		{60 * 24 * time.Hour, false},
		{61 * 24 * time.Hour, true},
	} {
		got, err := s.Believes(t.Context(), at.Add(c.after))
		if err != nil || got != c.want {
			t.Errorf("look %d, %v later: %v, %v", i, c.after, got, err)
		}
	}
}
