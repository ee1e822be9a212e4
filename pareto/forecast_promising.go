package pareto

import (
	"math"
	"math/rand/v2"
	"slices"
)

// ForecastPromising returns within how many cases four of five trials of a challenger in a
// world have been promising or promoted; 0: more than ForecastCap. It simulates as Forecast
// does.
func ForecastPromising(w World, cfg Config) int {
	if cfg == (Config{}) {
		cfg = DefaultConfig()
	}
	if !(w.Gain > 0) {
		return 0
	}
	cfg.Failures, cfg.Rest = w.Failures, Limit{}
	draw := w.pairs(rand.New(rand.NewPCG(2026, 1)))
	ends := make([]int, forecastTrials)
	for i := range ends {
		t := NewTrial(cfg)
		for t.Verdict() == Undecided && len(t.pairs) < ForecastCap {
			t.Add(draw())
		}
		if ends[i] = len(t.pairs); t.Verdict() != Promising && t.Verdict() != Promote {
			ends[i] = ForecastCap + 1
		}
	}
	slices.Sort(ends)
	if n := ends[int(math.Ceil(0.8*forecastTrials))-1]; n <= ForecastCap {
		return n
	}
	return 0
}
