package pareto

import "testing"

// TestShowable: what can be shown shrinks with cases and grows with noise, and
// agrees with the number of cases that it takes.
func TestShowable(t *testing.T) {
	alpha := DefaultConfig().Quality.Alpha
	last := 1.0
	for _, n := range []int{10, 20, 50, 200} {
		quiet, noisy := Showable(n, 0.1, alpha), Showable(n, 0.6, alpha)
		if quiet > noisy || noisy > last {
			t.Errorf("%d cases show %.3f without much noise and %.3f with it, fewer cases %.3f", n, quiet, noisy, last)
		}
		last = noisy
	}
	if got := Showable(3, 0.5, alpha); got < 0.9 {
		t.Errorf("3 cases show a gain of %.2f", got)
	}
	for _, gain := range []float64{0.1, 0.3} {
		n := CasesToShow(gain, 0.5, alpha)
		if n == 0 {
			t.Fatalf("no number of cases shows %.1f", gain)
		}
		if got := Showable(n, 0.5, alpha); got > gain+0.02 {
			t.Errorf("%d cases are said to show %.2f, and show %.3f", n, gain, got)
		}
	}
	if n := CasesToShow(0.001, 0.9, alpha); n != 0 {
		t.Errorf("%d cases show a gain of 0.001", n)
	}
	if CasesToShow(0, 0.5, alpha) != 0 {
		t.Error("no gain can be shown")
	}
}
