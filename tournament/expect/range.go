package expect

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

const (
	draws = 200 // of the bootstrap
	// spreadSD is the standard deviation of the logarithm of what turns take: 1.28 in the
	// tokens of 728 turns of a public repository.
	spreadSD = 1.3
	// drift is how far the mean of later turns is from the mean of earlier ones, as the
	// standard deviation of the ratio's logarithm.
	drift = 0.2
)

// A Range is an expectation, with the bounds that hold 90 % of what comes.
type Range struct {
	Low      float64 `json:"low"`
	Expected float64 `json:"expected"`
	High     float64 `json:"high"`
}

// Plus is the range of r and of what is certain to take x more.
func (r Range) Plus(x float64) Range { return Range{r.Low + x, r.Expected + x, r.High + x} }

// Mix is the range of a share of r and of the rest of q.
func (r *Range) Mix(q *Range, share float64) *Range {
	if r == nil || q == nil {
		return nil
	}
	of := func(a, b float64) float64 { return share*a + (1-share)*b }
	return &Range{of(r.Low, q.Low), of(r.Expected, q.Expected), of(r.High, q.High)}
}

// Words formats a range of tokens, and USD one of dollars, with the bounds in brackets.
func (r Range) Words() string {
	return fmt.Sprintf("%s (%s to %s)", rounded(r.Expected), rounded(r.Low), rounded(r.High))
}

// USD is Words of dollars.
func (r Range) USD() string {
	return fmt.Sprintf("%s (%s to %s)", eval.FormatUSD(r.Expected), eval.FormatUSD(r.Low), eval.FormatUSD(r.High))
}

// rounded writes two digits of a number: an estimate has no more.
func rounded(x float64) string {
	unit := math.Pow(10, math.Max(0, math.Floor(math.Log10(math.Max(1, x)))-1))
	return plain.Thousands(int64(math.Round(x/unit) * unit))
}

// Tokens is what n replays of so many cases take, cached input included; nil is unknown.
func (s *Sample) Tokens(n int64, cases int) *Range {
	return s.forecast(n, cases, func(t *turn) float64 { return float64(t.usage.Total()) })
}

// USD is Tokens in dollars by a price; nil is unknown.
func (s *Sample) USD(p *eval.Price, n int64, cases int) *Range {
	if p == nil {
		return nil
	}
	return s.forecast(n, cases, func(t *turn) float64 { return *p.USD(&t.usage) })
}

// Seconds is what n replays take one after the other; nil is unknown.
func (s *Sample) Seconds(n int64, cases int) *Range {
	return s.forecast(n, cases, func(t *turn) float64 { return t.seconds })
}

// values are what turns took of one quantity, the smallest first.
type values []value

type value struct {
	x, weight float64
	session   int
}

// values are those of the turns of which the quantity is known, and the known spread
// around their geometric mean, so that few turns do not look certain. sessions is how many
// groups of values are independent of each other.
func (s *Sample) values(of func(*turn) float64) (v values, sessions int) {
	number := map[string]int{}
	logs, sum := 0.0, 0.0
	for i := range s.turns {
		t := &s.turns[i]
		x := of(t)
		if x <= 0 {
			continue
		}
		if _, ok := number[t.session]; !ok {
			number[t.session] = len(number)
		}
		v = append(v, value{x, t.weight, number[t.session]})
		logs, sum = logs+t.weight*math.Log(x), sum+t.weight
	}
	if sessions = len(number); sessions == 0 {
		return nil, 0
	}
	// The middles of ten equal parts of the normal distribution.
	for _, z := range []float64{-1.645, -1.036, -0.674, -0.385, -0.126, 0.126, 0.385, 0.674, 1.036, 1.645} {
		v = append(v, value{math.Exp(logs/sum + spreadSD*z), s.spread / (1 - s.spread) * sum / 10, sessions})
		sessions++
	}
	slices.SortStableFunc(v, func(a, b value) int { return cmp.Compare(a.x, b.x) })
	return v, sessions
}

// cumulated are the sums of the weights up to each value; factors, by session, are for a
// bootstrap, nil for none.
func (v values) cumulated(factors []float64) []float64 {
	out, sum := make([]float64, len(v)), 0.0
	for i := range v {
		f := 1.0
		if factors != nil {
			f = factors[v[i].session]
		}
		sum += f * v[i].weight
		out[i] = sum
	}
	return out
}

// at is the value at a share of the weights.
func (v values) at(cumulated []float64, share float64) float64 {
	i := sort.SearchFloat64s(cumulated, share*cumulated[len(cumulated)-1])
	return v[min(i, len(v)-1)].x
}

// mean counts the largest turns as they are: one in a hundred is larger than twenty
// others, and without them sums are forecast too low.
func (v values) mean() float64 {
	sum, weights := 0.0, 0.0
	for i := range v {
		sum, weights = sum+v[i].weight*v[i].x, weights+v[i].weight
	}
	return sum / weights
}

// forecast is the range of n replays of so many cases, 0 of as many. Replays of one case resemble each
// other, so that no more than cases of them are drawn. The turns of one session are not
// independent of each other: so the bootstrap weighs sessions (Rubin, The Bayesian
// Bootstrap, 1981). The bounds of one replay are 5 and 95 % of its weighted quantiles at 5
// and 95 %: a tolerance interval, as later turns are of other sessions.
func (s *Sample) forecast(n int64, cases int, of func(*turn) float64) *Range {
	if !s.Known() || n <= 0 {
		return nil
	}
	v, sessions := s.values(of)
	if len(v) == 0 {
		return nil
	}
	rng := rand.New(rand.NewPCG(uint64(n), uint64(cases)))
	drawn := int(n)
	if cases > 0 {
		drawn = min(drawn, cases)
	}
	low, high := make([]float64, draws), make([]float64, draws)
	factors := make([]float64, sessions)
	for d := range draws {
		for i := range factors {
			factors[i] = rng.ExpFloat64()
		}
		c := v.cumulated(factors)
		if n == 1 {
			low[d], high[d] = v.at(c, 0.05), v.at(c, 0.95)
			continue
		}
		sum := 0.0
		for range drawn {
			sum += v.at(c, rng.Float64())
		}
		low[d] = sum * float64(n) / float64(drawn) * math.Exp(drift*rng.NormFloat64())
		high[d] = low[d]
	}
	slices.Sort(low)
	slices.Sort(high)
	r := Range{low[draws/20-1], float64(n) * v.mean(), high[draws-draws/20]}
	r.Low, r.High = min(r.Low, r.Expected), max(r.High, r.Expected)
	return &r
}
