package mutate

import "testing"

func TestSimilarity(t *testing.T) {
	for _, c := range []struct {
		a, b          string
		want, overlap float64
	}{
		{"Use a log chart.", "use log charts", 1, 1},
		{"Label lines", "Label bars", 1. / 3, 0.5},
		{"and of the", "and of the", 0, 0},
		{"", "", 0, 0},
	} {
		if got := Overlap(c.a, c.b); got != c.overlap {
			t.Errorf("%q overlaps %q by %v, want %v", c.a, c.b, got, c.overlap)
		}
		if got := Similarity(c.a, c.b); got != c.want {
			t.Errorf("%q is like %q by %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
