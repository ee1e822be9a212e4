package pareto

import (
	"math"
	"math/rand/v2"
	"slices"
)

// ForecastCap is the largest number of cases that Forecast considers.
const ForecastCap = 2000

// Assumptions of Forecast: cost and latency are both measured, do not change,
// and differ from case to case with this standard deviation of the log ratio.
const usualNoise = 0.3

// forecastTrials is how many trials Forecast simulates: a quantile is
// accurate to about 5 %.
const forecastTrials = 400

// Forecast returns within how many cases a challenger with pass rate passNew
// is promoted over an incumbent with pass rate passOld on quality: cases50 in
// half of all trials, cases80 in 80 %. 0 means that more than ForecastCap
// would be needed, as for any challenger that is not better.
//
// It simulates trials under the rule cfg with a fixed seed: one attempt per
// arm and case, passes independent between the arms (if the same cases fail
// in both arms, fewer are needed), retries falling with failures, cost and
// latency unchanged but noisy. The last two have to be shown to be within
// their tolerance, which takes about 30 cases at any gain. It takes tens of
// milliseconds at most.
func Forecast(passOld, passNew float64, cfg Config) (cases50, cases80 int) {
	if cfg == (Config{}) {
		cfg = DefaultConfig()
	}
	if !(passNew > passOld) {
		return 0, 0
	}
	rng := rand.New(rand.NewPCG(2026, 1))
	ends := make([]int, forecastTrials)
	for i := range ends {
		ends[i] = promotedAfter(passOld, passNew, cfg, rng)
	}
	slices.Sort(ends)
	at := func(share float64) int {
		if n := ends[int(math.Ceil(share*forecastTrials))-1]; n <= ForecastCap {
			return n
		}
		return 0
	}
	return at(0.5), at(0.8)
}

// promotedAfter simulates one trial. It returns the case after which every
// process that the quality route needs has crossed its line, ForecastCap+1 if
// that never happens. The logic is Trial's; it multiplies instead of adding
// logs, which may overflow only after they have crossed.
func promotedAfter(passOld, passNew float64, cfg Config, rng *rand.Rand) int {
	quality := newRace(cfg.Quality.Alpha, grid)
	retries := newRace(cfg.ToleranceAlpha, grid)
	latency := newRace(cfg.ToleranceAlpha, toleranceGrid(cfg.Latency.Tolerance))
	cost := newRace(cfg.ToleranceAlpha, toleranceGrid(cfg.Cost.Tolerance))
	for n := 1; n <= ForecastCap; n++ {
		d := 0.0
		if rng.Float64() < passNew {
			d++
		}
		if rng.Float64() < passOld {
			d--
		}
		quality.add(d)
		if !retries.won {
			retries.add(above(d, -cfg.Retries.Tolerance))
		}
		if !latency.won {
			latency.add(above(usualRatio(rng), -cfg.Latency.Tolerance))
		}
		if !cost.won {
			cost.add(above(usualRatio(rng), -cfg.Cost.Tolerance))
		}
		if quality.won && retries.won && latency.won && cost.won {
			return n
		}
	}
	return ForecastCap + 1
}

func usualRatio(rng *rand.Rand) float64 {
	return max(-1, min(1, usualNoise*rng.NormFloat64()/math.Log(4)))
}

// A race is a Process reduced to whether it has crossed.
type race struct {
	bets    []float64
	capital []float64
	goal    float64 // of the sum of capitals
	won     bool
}

func newRace(alpha float64, bets []float64) *race {
	return &race{bets: bets, capital: slices.Repeat([]float64{1}, len(bets)), goal: float64(len(bets)) / alpha}
}

func (r *race) add(d float64) {
	if r.won || d == 0 {
		return
	}
	sum := 0.0
	for i, lambda := range r.bets {
		r.capital[i] *= 1 + lambda*d
		sum += r.capital[i]
	}
	r.won = sum >= r.goal
}
