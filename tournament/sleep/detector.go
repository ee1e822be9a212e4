package sleep

import "math"

// bets are the fractions of its capital that a detector stakes on each session.
var bets = [...]float64{0.2, 0.35, 0.5, 0.75, 0.9}

// beginEvery is how many sessions lie between the moments at which a detector
// takes it to be possible that something turned bad: fewer moments need less
// evidence each, and the alarm comes by so many sessions later at most.
const beginEvery = 5

// A detector is an e-process for E[d] ≤ 0 that does not lose its power while
// nothing is wrong: what was good for a month may turn bad. Its capital of 1 is
// divided over all moments at which that could begin, 1/(k(k+1)) for the k-th,
// and over the bets; each part is staked from its moment on. A sum of e-processes
// with weights that add up to 1 is one too. To begin at the k-th moment instead
// of the first costs the logarithm of k(k+1)/2 in evidence.
type detector struct {
	staked  [len(bets)]float64
	kept    float64 // for later beginnings
	n       int
	capital float64 // it starts at 1
	peak    float64 // of the capital
}

func newDetector() *detector { return &detector{kept: 1, capital: 1, peak: 1} }

func (d *detector) add(x float64) {
	if d.n%beginEvery == 0 {
		k := float64(d.n/beginEvery + 1)
		for i := range d.staked {
			d.staked[i] += 1 / (k * (k + 1))
		}
		d.kept = 1 / (k + 1)
	}
	d.n++
	d.capital = d.kept
	for i, b := range bets {
		d.staked[i] *= 1 + b*x
		d.capital += d.staked[i] / float64(len(bets))
	}
	d.peak = max(d.peak, d.capital)
}

// upper is the upper confidence bound, at level 1-doubt, of the mean of n
// independent values in [0,1] with this mean: the largest p with
// n·KL(mean‖p) ≤ log(1/doubt) (Chernoff; Hoeffding 1963, theorem 1). Without any
// values it is 1.
func upper(mean float64, n int, doubt float64) float64 {
	lo, hi := mean, 1.0
	for range 60 {
		p := (lo + hi) / 2
		if float64(n)*kl(mean, p) <= math.Log(1/doubt) {
			lo = p
		} else {
			hi = p
		}
	}
	return hi
}

// kl is the relative entropy of two coins.
func kl(a, b float64) (d float64) {
	if a > 0 {
		d += a * math.Log(a/b)
	}
	if a < 1 {
		d += (1 - a) * math.Log((1-a)/(1-b))
	}
	return d
}
