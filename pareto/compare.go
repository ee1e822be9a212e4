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

// compare is Compare of the means of weight times difference; largest bounds
// each weight. nil weights are 1. No difference is NaN.
func compare(differences, weights, largest []float64, level float64) Estimate {
	e := Estimate{Low: -1, High: 1, Level: level, N: len(differences)}
	d := make([]float64, e.N)
	most := 1.0
	for i, x := range differences {
		switch {
		case x > 0:
			e.Wins++
		case x < 0:
			e.Losses++
		default:
			e.Ties++
		}
		if d[i] = max(-1, min(1, x)); weights != nil {
			d[i] *= weights[i]
			most = max(most, largest[i])
		}
	}
	if e.N > 0 {
		e.Mean = stat.Mean(d, nil)
		limit := -math.Log((1 - level) / 2)
		e.Low = max(-1, lowest(d, largest, -most, e.Mean, limit))
		floats.Scale(-1, d)
		e.High = min(1, -lowest(d, largest, -most, -e.Mean, limit))
	}
	if e.N < few {
		e.Warnings = append(e.Warnings, fmt.Sprintf("only %d pairs", e.N))
	}
	return e
}

// lowest returns the smallest mean that is not refuted from below: the capital
// against "the mean is at most m" falls as m rises, and at the sample mean it is
// at most 1, so the crossing is found by bisection.
func lowest(d, largest []float64, lo, mean, limit float64) float64 {
	hi := mean
	for range 40 { // 2/2⁴⁰: far below anything that is shown
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if capital(d, largest, mid) >= limit {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo // the outer side
}

// capital is the log of what betting against "the mean is at most m", m above
// minus the largest weight, has won. At m = 0 it is a Process fed with d over
// the largest weight. Elsewhere the stake is scaled by the largest loss that d
// can bring, largest+m, while evidence.add scales by largest+|m|: fairer to
// small means, and as valid, since no factor is negative.
func capital(d, largest []float64, m float64) float64 {
	var room [8]float64
	logs := append(room[:0], make([]float64, len(grid))...)
	for i, lambda := range grid {
		// A logarithm a bet is slow; 16 factors between 0.05 and 2⁴¹ neither
		// vanish nor overflow.
		product := 1.0
		for k, x := range d {
			most := 1.0
			if largest != nil {
				most = largest[k]
			}
			product *= 1 + lambda/(max(most, -m)+m)*(x-m)
			if k&15 == 15 {
				logs[i] += math.Log(product)
				product = 1
			}
		}
		logs[i] += math.Log(product)
	}
	return floats.LogSumExp(logs) - math.Log(float64(len(grid)))
}
