package sleep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/pareto"
)

// A Rule says when real sessions raise an alarm about an installed version.
//
// The hypothesis is that the share of sessions in which the skill had to be
// corrected is no higher than Limit: the upper bound of the old version's share,
// and a margin on top, because the tasks of this week are not those of the last.
// An e-process may be looked at every night: if the hypothesis holds, it ever
// raises an alarm with probability at most Alpha, and the bound is wrong with
// probability at most Doubt. What people ask for changes with their work, so an
// alarm is a reason to look, and no proof.
type Rule struct {
	Alpha  float64
	Doubt  float64
	Margin float64
}

// DefaultRule is the rule of the nights.
var DefaultRule = Rule{Alpha: 0.05, Doubt: 0.05, Margin: 0.05}

// An Alarm is what real sessions say of an installed version.
type Alarm struct {
	Skill   string    `json:"skill"`
	Version string    `json:"version"` // SHA-256
	Before  string    `json:"before"`  // SHA-256 of the version that it replaced
	Since   time.Time `json:"since"`
	// OldSessions and NewSessions count; OldRate and NewRate are the shares of
	// failed uses, averaged over sessions.
	OldSessions int     `json:"old_sessions"`
	NewSessions int     `json:"new_sessions"`
	OldRate     float64 `json:"old_rate"`
	NewRate     float64 `json:"new_rate"`
	// Limit is what the new rate must not exceed, 1 where too little is known.
	Limit  float64 `json:"limit"`
	EValue float64 `json:"e_value"` // the largest so far
	Alpha  float64 `json:"alpha"`
	// At is the number of new sessions at which it was raised, 0 for no alarm.
	At int `json:"at"`
	// Needed is by how many further sessions an alarm is likely (in 80 % of cases)
	// if from now on 25 points more of them fail than the limit allows; 0 for more
	// than pareto.ForecastCap, or where too little is known.
	Needed int `json:"needed"`
}

// Raised reports whether there is an alarm.
func (a *Alarm) Raised() bool { return a.At > 0 }

func (a *Alarm) String() string {
	s := fmt.Sprintf("failures in %.0f%% of %d sessions, before it in %.0f%% of %d; e = %.3g of %.3g", 100*a.NewRate, a.NewSessions,
		100*a.OldRate, a.OldSessions, a.EValue, 1/a.Alpha)
	if a.Limit >= 1 {
		s += "; too few old sessions to tell"
	}
	return s
}

// Look judges a version that is in place since then, and replaced another one. A
// use that carries a version's hash is told by it, another one by its time. Uses
// of one session are not independent: a session counts once, by the share of its
// uses that failed.
func (r Rule) Look(version, before string, since time.Time, uses []Use) *Alarm {
	a := &Alarm{Version: version, Before: before, Since: since, Alpha: r.Alpha, Limit: 1}
	olds, news := newSessions(), newSessions()
	for _, u := range uses {
		switch {
		case u.Version == version, u.Version == "" && !u.At.Before(since):
			news.add(u)
		case u.Version == before, u.Version == "" && !u.At.IsZero():
			olds.add(u)
		}
	}
	a.OldSessions, a.OldRate = olds.rate()
	a.NewSessions, a.NewRate = news.rate()
	a.Limit = r.limit(a.OldRate, a.OldSessions)
	d := newDetector()
	for i, x := range news.shares() {
		d.add(against(x, a.Limit))
		if a.At == 0 && a.Limit < 1 && d.peak >= 1/r.Alpha {
			a.At = i + 1
		}
	}
	a.EValue = d.peak
	if a.Limit < 1 {
		_, a.Needed = r.Forecast(a.OldRate, a.OldSessions, a.NewRate, a.NewSessions, min(1, a.Limit+0.25))
	}
	return a
}

// limit is the upper bound of the old rate, and the margin.
func (r Rule) limit(rate float64, n int) float64 {
	return min(1, upper(rate, n, r.Doubt)+r.Margin)
}

// against scales x - limit to at most 1 and at least -1: its expectation is not
// positive where that of x ∈ [0,1] is at most limit.
func against(x, limit float64) float64 { return (x - limit) / max(limit, 1-limit) }

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

// Forecast is by how many sessions an alarm comes in half and in 80 % of all
// cases, where the old version failed in oldRate of n sessions, the new one in
// goodRate of its first good sessions, and in newRate of those that follow: each
// session one use, independent. 0 stands for more than pareto.ForecastCap.
// It plays trials with a fixed seed, and takes milliseconds.
func (r Rule) Forecast(oldRate float64, n int, goodRate float64, good int, newRate float64) (in50, in80 int) {
	limit := r.limit(oldRate, n)
	if newRate <= limit || limit >= 1 {
		return 0, 0
	}
	const plays = 400
	rng := rand.New(rand.NewPCG(2026, 7))
	draw := func(rate float64) float64 {
		if rng.Float64() < rate {
			return against(1, limit)
		}
		return against(0, limit)
	}
	ends := make([]int, plays)
	for i := range ends {
		d := newDetector()
		for range good {
			d.add(draw(goodRate))
		}
		d.peak = 0 // an alarm before there was a reason is no help
		for ends[i] = 1; ends[i] <= pareto.ForecastCap; ends[i]++ {
			if d.add(draw(newRate)); d.peak >= 1/r.Alpha {
				break
			}
		}
	}
	slices.Sort(ends)
	at := func(share float64) int {
		if n := ends[int(math.Ceil(share*plays))-1]; n <= pareto.ForecastCap {
			return n
		}
		return 0
	}
	return at(0.5), at(0.8)
}

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
	staked [len(bets)]float64
	kept   float64 // for later beginnings
	n      int
	peak   float64 // of the capital; it starts at 1
}

func newDetector() *detector { return &detector{kept: 1, peak: 1} }

func (d *detector) add(x float64) {
	if d.n%beginEvery == 0 {
		k := float64(d.n/beginEvery + 1)
		for i := range d.staked {
			d.staked[i] += 1 / (k * (k + 1))
		}
		d.kept = 1 / (k + 1)
	}
	d.n++
	capital := d.kept
	for i, b := range bets {
		d.staked[i] *= 1 + b*x
		capital += d.staked[i] / float64(len(bets))
	}
	d.peak = max(d.peak, capital)
}

// sessions groups uses, in order of their first.
type sessions struct {
	order  []string
	failed map[string]int
	uses   map[string]int
}

func newSessions() *sessions { return &sessions{failed: map[string]int{}, uses: map[string]int{}} }

func (s *sessions) add(u Use) {
	if s.uses[u.Session] == 0 {
		s.order = append(s.order, u.Session)
	}
	s.uses[u.Session]++
	if u.Failed {
		s.failed[u.Session]++
	}
}

func (s *sessions) shares() (xs []float64) {
	for _, id := range s.order {
		xs = append(xs, float64(s.failed[id])/float64(s.uses[id]))
	}
	return xs
}

func (s *sessions) rate() (n int, mean float64) {
	xs := s.shares()
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	return len(xs), mean
}
