package pareto

import (
	"math/rand/v2"
)

// showPower is the probability with which a gain must be shown to count as
// showable.
const showPower = 0.8

// Showable returns the smallest mean gain in quality that cases pairs show
// with a probability of 80 %, if the paired differences have the standard
// deviation sd, at the level alpha; 1 if there is none. It simulates trials
// of differences of −1, 0 and 1 with a fixed seed: those take the most cases
// for their mean and spread. Cost, latency and retries are left out, so the
// true value is at least as large. It takes milliseconds.
func Showable(cases int, sd, alpha float64) float64 {
	cases = min(cases, ForecastCap)
	lo, hi := 0.0, 1.0
	for hi-lo > 0.005 {
		mid := (lo + hi) / 2
		if shown(mid, sd, alpha, cases) >= showPower {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// CasesToShow returns about how many pairs show a mean gain with a chance of
// 80 %, 0 for more than ForecastCap. See Showable.
func CasesToShow(gain, sd, alpha float64) int {
	if !(gain > 0) || shown(gain, sd, alpha, ForecastCap) < showPower {
		return 0
	}
	lo, hi := 0, ForecastCap
	for hi-lo > max(1, hi/50) {
		mid := (lo + hi) / 2
		if shown(gain, sd, alpha, mid) >= showPower {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// shown is the share of simulated trials that cross within that many cases.
func shown(gain, sd, alpha float64, cases int) float64 {
	const trials = 200
	rng := rand.New(rand.NewPCG(2026, 2))
	moves := min(1, max(gain, sd*sd+gain*gain)) // chance of a difference at all
	up := min(1, (moves+gain)/2)
	won := 0
	for range trials {
		r := newRace(alpha, grid)
		for n := 0; n < cases && !r.won; n++ {
			switch x := rng.Float64(); {
			case x < up:
				r.add(1)
			case x < moves:
				r.add(-1)
			}
		}
		if r.won {
			won++
		}
	}
	return float64(won) / trials
}
