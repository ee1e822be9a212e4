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

func TestRepeats(t *testing.T) {
	for _, c := range []struct {
		text, line, was string
		want            bool
	}{
		{"Sort bars by size.", "Sort the bars by value.", "", true}, // two of three
		{"Sort them.", "Sort the bars by value.", "", false},
		{"By value.", "Sort the bars by value.", "Sort the bars.", true},
		{"Sort the bars.", "Sort the bars by value.", "Sort the bars.", false},
		{"Draw a pie.", "Never draw a pie.", "Draw a pie.", true}, // no word more: the whole line
		{"Do it again, and all", "Do it again.", "", true},        // no content word at all
		{"Do it.", "When is it so?", "", false},
		{"値で棒を並べる。", "棒を値で並べる。", "", true}, // no spaces between words
		{"棒を値で並べよ。", "棒を値で並べる。", "", true},
		{"...", "...", "", false},
	} {
		if got := Repeats(c.text, c.line, c.was); got != c.want {
			t.Errorf("%q repeats %q (was %q): %v, want %v", c.text, c.line, c.was, got, c.want)
		}
	}
}
