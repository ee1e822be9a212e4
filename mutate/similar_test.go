package mutate

import "testing"

func TestSimilarity(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{"Use a log chart.", "use log charts", 1},
		{"Label lines", "Label bars", 1. / 3},
		{"and of the", "and of the", 0},
		{"", "", 0},
	} {
		if got := Similarity(c.a, c.b); got != c.want {
			t.Errorf("%q is like %q by %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
