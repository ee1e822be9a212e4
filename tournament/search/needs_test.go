package search

import (
	"testing"

	"github.com/skill-evolve/evolve/tournament/gate"
)

// TestNeeds: a run that is given what it needs leaves its search that much, and its
// gate as much or all that it can use.
func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		val, test    int
		want, search int64
	}{
		{30, 30, 192, 96},
		{30, 0, 96, 96},
		{2, 3, 96, 60},
		{12, 5, 132, 72},
		{12, 10, 144, 72},
		{200, 400, 192, 96},
	} {
		got := Needs(c.val, c.test, 1, true)
		if got != c.want {
			t.Errorf("%d validation, %d held-out cases: %d, want %d", c.val, c.test, got, c.want)
		}
		if s := Share(got, c.test, 1, true); s.Search != c.search || s.Gate != got-c.search {
			t.Errorf("%d validation, %d held-out cases: %d are shared as %+v, want %d for the search", c.val, c.test, got, s, c.search)
		}
	}
	if got := Needs(30, 30, 1, false); got != 96 {
		t.Errorf("without a gate %d, want 96", got)
	}
}

// TestEnough: a run that nobody has capped has its search take what it likes, and its
// result tried on every held-out case.
func TestEnough(t *testing.T) {
	for _, c := range [][2]int{{30, 30}, {30, 0}, {2, 3}, {12, 10}, {200, 400}} {
		val, test := c[0], c[1]
		s := Share(Enough(val, test, 1, true), test, 1, true)
		if s.Gate != gate.Takes(test, gate.Replays, 1) || s.Search < 2*Needs(val, test, 1, false) {
			t.Errorf("%d validation, %d held-out cases: %+v", val, test, s)
		}
	}
	if got := Enough(30, 30, 1, false); got != 192 {
		t.Errorf("without a gate %d, want 192", got)
	}
}
