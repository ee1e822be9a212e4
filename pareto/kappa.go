package pareto

import (
	"encoding/json"
	"math"
)

// Agreement counts how two raters, an owner and a judge, judged the same
// items with pass or fail. The zero value has no items.
type Agreement struct {
	BothPass  int `json:"both_pass"`
	OnlyOwner int `json:"only_owner"` // the owner passed it, the judge failed it
	OnlyJudge int `json:"only_judge"` // the judge passed it, the owner failed it
	BothFail  int `json:"both_fail"`
}

// Add counts one more item.
func (a *Agreement) Add(owner, judge bool) {
	switch {
	case owner && judge:
		a.BothPass++
	case owner:
		a.OnlyOwner++
	case judge:
		a.OnlyJudge++
	default:
		a.BothFail++
	}
}

// N is the number of items.
func (a Agreement) N() int { return a.BothPass + a.OnlyOwner + a.OnlyJudge + a.BothFail }

// KappaEstimate is Cohen's κ with its interval. Value is NaN if κ is not
// defined: without items, and if both raters always give the same rating; Low
// and High are then -1 and 1.
type KappaEstimate struct {
	Value float64
	Low   float64
	High  float64
	Level float64 // of the interval
	N     int
}

// MarshalJSON writes null for a κ that is not defined.
func (k KappaEstimate) MarshalJSON() ([]byte, error) {
	out := struct {
		Value *float64 `json:"value"`
		Low   float64  `json:"low"`
		High  float64  `json:"high"`
		Level float64  `json:"level"`
		N     int      `json:"n"`
	}{nil, k.Low, k.High, k.Level, k.N}
	if !math.IsNaN(k.Value) {
		out.Value = &k.Value
	}
	return json.Marshal(out)
}

// kappaZ is the normal quantile of a 95 % interval.
const kappaZ = 1.959963984540054

// Kappa returns Cohen's κ (1960): how far two raters agree beyond the
// agreement that chance gives at their shares of passes, 1 for always and 0
// for chance.
//
// The 95 % interval is the asymptotic one of Fleiss, Cohen and Everitt
// (1969), computed with half an item added to each of the four cells, because
// without that it shrinks to a point if the raters never differ; it is then
// widened to hold the estimate. It is a fixed-sample interval: it describes,
// and no promotion rests on it. TestKappaCovers measures it at 20 to 40
// items.
func Kappa(a Agreement) KappaEstimate {
	out := KappaEstimate{Value: math.NaN(), Low: -1, High: 1, Level: 0.95, N: a.N()}
	cells := [2][2]float64{{float64(a.BothPass), float64(a.OnlyOwner)}, {float64(a.OnlyJudge), float64(a.BothFail)}}
	value, _ := kappaOf(cells)
	if math.IsNaN(value) {
		return out
	}
	for i := range cells {
		for j := range cells[i] {
			cells[i][j] += 0.5
		}
	}
	middle, se := kappaOf(cells)
	out.Value = value
	out.Low = max(-1, min(value, middle-kappaZ*se))
	out.High = min(1, max(value, middle+kappaZ*se))
	return out
}

// kappaOf is κ of a table of counts (owner × judge) and its standard error,
// Fleiss, Cohen and Everitt (1969), equation 13. NaN if chance agrees always.
func kappaOf(n [2][2]float64) (kappa, se float64) {
	total := n[0][0] + n[0][1] + n[1][0] + n[1][1]
	if total == 0 {
		return math.NaN(), math.NaN()
	}
	var p [2][2]float64
	var row, col [2]float64 // shares of the owner's, of the judge's words
	for i := range n {
		for j := range n[i] {
			p[i][j] = n[i][j] / total
			row[i] += p[i][j]
			col[j] += p[i][j]
		}
	}
	agree := p[0][0] + p[1][1]
	chance := row[0]*col[0] + row[1]*col[1]
	if chance >= 1 {
		return math.NaN(), math.NaN()
	}
	kappa = (agree - chance) / (1 - chance)
	rest := 1 - kappa
	var v float64
	for i := range p {
		for j := range p[i] {
			if i == j {
				v += p[i][i] * math.Pow(1-(row[i]+col[i])*rest, 2)
			} else {
				v += p[i][j] * math.Pow(rest*(col[i]+row[j]), 2)
			}
		}
	}
	v -= math.Pow(kappa-chance*rest, 2)
	return kappa, math.Sqrt(max(0, v)/total) / (1 - chance)
}
