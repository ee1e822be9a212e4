package pareto

import "testing"

// TestForecastPromising: a challenger is promising before it is proved, and one without a
// gain is neither.
func TestForecastPromising(t *testing.T) {
	for _, w := range []World{{Failures: 0.5, Gain: 0.25, Replays: 3}, {Failures: 0.3, Gain: 0.15, Replays: 3}, {Failures: 0.3, Gain: 0.3, Replays: 1}} {
		_, proved := Forecast(w, Config{})
		if n := ForecastPromising(w, Config{}); n < 2 || n >= proved {
			t.Errorf("%+v: promising within %d cases, proved within %d", w, n, proved)
		}
	}
	if n := ForecastPromising(World{Failures: 0.3, Replays: 3}, Config{}); n != 0 {
		t.Errorf("without a gain: %d", n)
	}
}
