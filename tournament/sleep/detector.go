package sleep

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
)

// bets are the fractions of its capital that a detector stakes on each session.
var bets = [...]float64{0.2, 0.35, 0.5, 0.75, 0.9}

// beginEvery is the number of sessions between the moments at which a
// detector assumes that a deterioration may begin. Fewer moments need less
// evidence each; the alarm comes at most so many sessions later.
const beginEvery = 5

// evenly is the share of the capital that is divided evenly over the first
// evenMoments: few versions live longer, and a deterioration after a month
// needs a fifth fewer sessions than by the tail alone. A version that is bad
// from its first session on needs about one session in twelve more for it.
const (
	evenly      = 0.3
	evenMoments = 50
)

// A detector is an e-process for E[d] ≤ 0 that does not lose its power during
// a long good time, such as a month, before a deterioration. Its capital of 1
// is divided over all moments at which that could begin (see weight) and over
// the bets; each part is staked from its moment on. A sum of e-processes with
// weights that add up to 1 is one too. To begin at a moment of weight w costs
// the logarithm of 1/w in evidence.
type detector struct {
	staked  [len(bets)]float64
	kept    float64 // for later beginnings
	n       int
	capital float64 // it starts at 1
	peak    float64 // of the capital
}

func newDetector() *detector { return &detector{kept: 1, capital: 1, peak: 1} }

func (d *detector) add(x float64) {
	f := factorsOf(x)
	d.stake(&f)
	d.capital = d.worth()
	d.peak = max(d.peak, d.capital)
}

// factors are the factors by which one session multiplies the stake of each
// bet.
type factors [len(bets)]float64

func factorsOf(x float64) (f factors) {
	for i, b := range bets {
		f[i] = 1 + b*x
	}
	return f
}

// stake enters one session, without updating capital and peak.
func (d *detector) stake(f *factors) {
	if d.n%beginEvery == 0 {
		k := d.n/beginEvery + 1
		w := weight(k)
		for i := range d.staked {
			d.staked[i] += w
		}
		d.kept = kept(k)
	}
	d.n++
	for i := range d.staked {
		d.staked[i] *= f[i]
	}
}

// worth is the current capital.
func (d *detector) worth() float64 {
	sum := d.kept
	for _, s := range d.staked {
		sum += s / float64(len(bets))
	}
	return sum
}

// reaches reports whether the current capital is at least this much. Unless
// it is a close call, one division by the number of bets decides.
func (d *detector) reaches(level float64) bool {
	sum := 0.0
	for _, s := range d.staked {
		sum += s
	}
	return d.kept+sum/float64(len(bets)) >= level*(1-1e-9) && d.worth() >= level
}

// weight is the share of the capital that is staked from the k-th moment on.
func weight(k int) float64 { return kept(k-1) - kept(k) }

// kept is the share that the first k moments leave.
func kept(k int) float64 {
	return (1-evenly)/float64(k+1) + evenly*max(0, 1-float64(k)/evenMoments)
}

// upper is the upper confidence bound, at level 1-doubt, of the mean chance
// of n independent coins of which this many fell: the largest p at which so
// few fall with probability doubt (Clopper and Pearson 1934). The coins'
// chances may differ: a tail below the median is at most that of n coins with
// the mean chance (Hoeffding 1956, theorem 4: on the number of successes in
// independent trials). Without any coins it is 1. doubt is below 1/2.
func upper(fell, n int, doubt float64) float64 {
	lo, hi := 0.0, 1.0
	if n > 0 {
		lo = float64(fell) / float64(n)
	}
	for range 50 {
		if p := (lo + hi) / 2; atMost(fell, n, p) > doubt {
			lo = p
		} else {
			hi = p
		}
	}
	return hi
}

// atMost is the probability that at most k of n coins with chance p ∈ (0,1) fall.
func atMost(k, n int, p float64) (sum float64) {
	if k >= n {
		return 1
	}
	odds, term := math.Log(p)-math.Log1p(-p), float64(n)*math.Log1p(-p) // term: logarithm of the probability of i
	for i := range k + 1 {
		sum += math.Exp(term)
		term += math.Log(float64(n-i)/float64(i+1)) + odds
	}
	return min(1, sum)
}

// fell turns a share into a coin that falls with this chance. Its session
// determines the result, so that it is the same every time. Its mean is the
// share.
func fell(share float64, session string) bool {
	if share <= 0 || share >= 1 {
		return share >= 1
	}
	sum := sha256.Sum256([]byte(session))
	return float64(binary.BigEndian.Uint64(sum[:])>>11)/(1<<53) < share
}
