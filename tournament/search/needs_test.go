package search

import "testing"

// TestNeeds: a run that is given what it needs leaves its search that much, and its
// gate as much or all that it can use.
func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		val, test    int
		want, search int64
	}{
		{30, 30, 186, 96},
		{30, 0, 96, 96},
		{2, 3, 69, 60},
		{12, 10, 102, 72},
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
