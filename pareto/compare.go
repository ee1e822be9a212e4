package pareto

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// An Estimate is a mean paired difference with an interval.
type Estimate struct {
	Mean float64 `json:"mean"` // sample mean; 0 where N is 0
	// Low and High bound the true mean at every sample size at once with
	// probability Level: one may look at each new pair and stop when
	// satisfied.
	Low      float64  `json:"low"`
	High     float64  `json:"high"`
	N        int      `json:"n"`
	Level    float64  `json:"level"`
	Wins     int      `json:"wins"`   // differences above 0
	Losses   int      `json:"losses"` // below 0
	Ties     int      `json:"ties"`
	Warnings []string `json:"warnings,omitempty"`
}

// few is the number of pairs below which an interval is too wide to act on.
const few = 10

// Compare estimates the mean of paired differences in [-1, 1] with an
// interval that is valid at any stopping time: the set of means m that the
// bets of a Process on either side have not refuted at (1-level)/2 each (a
// betting confidence sequence with a mixture over λ; Waudby-Smith and Ramdas
// 2023, section 4). It always contains the sample mean and does not depend on
// the order of the differences. It is wider than a t interval of the same n,
// which is valid only for one n fixed beforehand.
//
// NaN entries are missing pairs; values outside [-1, 1] are clipped; warnings
// count both. A level outside (0, 1) means 0.95.
func Compare(differences []float64, level float64) Estimate {
	if !(level > 0 && level < 1) {
		level = intervalLevel
	}
	var d []float64
	missing, clipped := 0, 0
	for _, x := range differences {
		if math.IsNaN(x) {
			missing++
			continue
		}
		if x < -1 || x > 1 {
			clipped++
		}
		d = append(d, x)
	}
	e := compare(d, nil, nil, level)
	if missing > 0 {
		e.Warnings = append(e.Warnings, fmt.Sprintf("%d pairs are missing a value", missing))
	}
	if clipped > 0 {
		e.Warnings = append(e.Warnings, fmt.Sprintf("%d differences outside [-1, 1] were clipped", clipped))
	}
	return e
}

// compare is Compare of the weighted mean; largest bounds each weight. nil weights are
// 1. No difference is NaN.
func compare(differences, weights, largest []float64, level float64) Estimate {
	e := Estimate{Low: -1, High: 1, Level: level, N: len(differences)}
	d := make([]float64, e.N)
	sum, total := 0.0, 0.0
	for i, x := range differences {
		switch {
		case x > 0:
			e.Wins++
		case x < 0:
			e.Losses++
		default:
			e.Ties++
		}
		d[i] = max(-1, min(1, x))
	}
	bets := weights // what of the stake each pair may move
	if weights == nil {
		e.Mean = stat.Mean(d, nil)
	} else {
		bets = make([]float64, e.N)
		for i := range d {
			bets[i], sum, total = weights[i]/largest[i], sum+weights[i]*d[i], total+weights[i]
		}
		e.Mean = sum / max(total, math.SmallestNonzeroFloat64)
	}
	if e.N > 0 {
		limit := -math.Log((1 - level) / 2)
		e.Low = lowest(d, bets, e.Mean, limit)
		floats.Scale(-1, d)
		e.High = -lowest(d, bets, -e.Mean, limit)
	} else {
		e.Mean = 0
	}
	if e.N < few {
		e.Warnings = append(e.Warnings, fmt.Sprintf("only %d pairs", e.N))
	}
	return e
}

// lowest returns the smallest mean that is not refuted from below: the capital
// against "the mean is at most m" falls as m rises, and at the sample mean it is
// at most 1, so the crossing is found by bisection.
func lowest(d, bets []float64, mean, limit float64) float64 {
	lo, hi := -1.0, mean
	for range 40 { // 2/2⁴⁰: far below anything that is shown
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if capital(d, bets, mid) >= limit {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo // the outer side
}

// capital is the log of what betting against "the mean is at most m", m > -1,
// has won. At m = 0 it is a Process fed with d, each times its part of the stake in
// bets (nil: all of it). Elsewhere the stake is scaled by 1+m, the largest loss that
// d can bring, while evidence.add scales by 1+|m|: fairer to small means, and as
// valid, since no factor is negative.
func capital(d, bets []float64, m float64) float64 {
	var room [8]float64
	logs := append(room[:0], make([]float64, len(grid))...)
	for i, lambda := range grid {
		// A logarithm a bet is slow; 16 factors between 0.05 and 2⁴¹ neither
		// vanish nor overflow.
		product, bet := 1.0, lambda/(1+m)
		for k, x := range d {
			part := 1.0
			if bets != nil {
				part = bets[k]
			}
			product *= 1 + bet*part*(x-m)
			if k&15 == 15 {
				logs[i] += math.Log(product)
				product = 1
			}
		}
		logs[i] += math.Log(product)
	}
	return floats.LogSumExp(logs) - math.Log(float64(len(grid)))
}
