package sleep

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/pareto"
)

// A Rule says when real sessions raise an alarm about an installed version.
//
// The hypothesis is that nothing that is watched is worse than its limit: the
// upper bound of what it was with the old version, and a margin on top, because
// the tasks of this week are not those of the last. Each Signal has an e-process
// against its own limit; their mean, weighted by their shares of the error, is one
// against the hypothesis, however they depend on each other. It never is below
// what Bonferroni would compare, the largest of them at its share of Alpha, and
// small evidence of several kinds adds up.
//
// An e-process may be looked at every night: if the hypothesis holds, it ever
// raises an alarm with probability at most Alpha, and a bound is wrong with
// probability at most Doubt, all signals together. What people ask for changes
// with their work, so an alarm is a reason to look, and no proof.
type Rule struct {
	Alpha  float64
	Doubt  float64
	Margin float64 // of shares
	Dearer float64 // factor that latency and tokens may rise by
}

// DefaultRule is the rule of the nights.
var DefaultRule = Rule{Alpha: 0.05, Doubt: 0.05, Margin: 0.05, Dearer: 1.25}

// of is the rule for one signal by itself, with its share of the error.
func (r Rule) of(weight float64) Rule {
	r.Alpha, r.Doubt = r.Alpha*weight, r.Doubt*weight
	return r
}

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
	Limit   float64  `json:"limit"`
	Signals []Signal `json:"signals,omitempty"` // all that is watched, corrections first
	EValue  float64  `json:"e_value"`           // the largest so far, all signals together
	Alpha   float64  `json:"alpha"`
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
	var said []string
	for i := range a.Signals {
		if s := &a.Signals[i]; s.Raised || i == 0 && !a.Raised() {
			said = append(said, s.String())
		}
	}
	if len(said) == 0 { // of an older record
		said = append(said, fmt.Sprintf("failures in %.0f%% of %d sessions, before it in %.0f%% of %d", 100*a.NewRate, a.NewSessions, 100*a.OldRate, a.OldSessions))
	}
	s := fmt.Sprintf("%s; e = %.3g of %.3g", strings.Join(said, "; "), a.EValue, 1/a.Alpha)
	if a.Limit >= 1 {
		s += "; too few old sessions to tell"
	}
	return s
}

// Look judges the version that is in place, which replaced another one. A use that
// carries a version's hash is told by it, another one by what was in place at its
// time: of what came before the one that was replaced, neither says anything. Uses
// of one session are not independent: a session counts once, by the mean of what
// is known of its uses.
func (r Rule) Look(version, before string, h History, uses []Use) *Alarm {
	a := &Alarm{Version: version, Before: before, Since: h.Since(), Alpha: r.Alpha, Limit: 1}
	olds, news := &sessions{}, &sessions{}
	for _, u := range uses {
		of := u.Version
		if of == "" {
			of = h.At(u.At)
		}
		switch of {
		case "":
		case version:
			news.add(u)
		case before:
			olds.add(u)
		}
	}
	a.OldSessions, a.NewSessions = len(olds.order), len(news.order)
	r.settle(a, olds)
	total := 1.0
	for i, id := range news.order {
		total = 0
		for k := range a.Signals {
			s := &a.Signals[k]
			if s.Weight == 0 {
				continue
			}
			if v, ok := news.value(id, k); ok {
				s.bet(v)
			}
			total += s.Weight * s.detector.capital
		}
		if a.EValue = max(a.EValue, total); a.At == 0 && a.EValue >= 1/r.Alpha {
			a.At = i + 1
			for k := range a.Signals {
				s := &a.Signals[k]
				s.Raised = s.Weight > 0 && s.Weight*s.detector.capital >= total/4
			}
		}
	}
	a.EValue = max(a.EValue, 1)
	for k := range a.Signals {
		s := &a.Signals[k]
		s.EValue = s.detector.peak
		values := news.values(k)
		s.NewSessions, s.New = len(values), meanOf(values)
		if s.ratio() && len(values) > 0 {
			s.New = math.Exp(s.New)
		}
	}
	c := &a.Signals[0]
	a.OldRate, a.NewRate = c.Old, c.New
	if c.Weight > 0 {
		a.Limit = c.limit
		_, a.Needed = a.Forecast(r, min(1, a.Limit+0.25))
	}
	return a
}

// settle divides the error over what the old sessions allow to be watched, and
// sets the limits. It looks at old sessions alone: weights that depended on new
// ones would be no weights of an e-process.
func (r Rule) settle(a *Alarm, olds *sessions) {
	a.Signals = make([]Signal, len(watched))
	able := make([]bool, len(watched))
	sum := 0.0
	for k, w := range watched {
		// With the smallest share that it can have: more only lowers the limit.
		probe := Signal{Name: w.name}
		if able[k] = probe.settle(r, olds.values(k), r.Doubt*w.part/parts()); able[k] {
			sum += w.part
		}
	}
	for k, w := range watched {
		s := Signal{Name: w.name, detector: newDetector()}
		doubt := r.Doubt * w.part / parts()
		if able[k] {
			s.Weight = w.part / sum
			doubt = r.Doubt * s.Weight
		}
		s.settle(r, olds.values(k), doubt)
		a.Signals[k] = s
	}
}

func parts() (sum float64) {
	for _, w := range watched {
		sum += w.part
	}
	return sum
}

// Forecast is by how many further sessions corrections alone raise the alarm in
// half and in 80 % of all cases, if from now on they fail at this rate.
func (a *Alarm) Forecast(r Rule, rate float64) (in50, in80 int) {
	c := &a.Signals[0]
	if c.Weight == 0 {
		return 0, 0
	}
	return r.of(c.Weight).Forecast(a.OldRate, a.OldSessions, a.NewRate, a.NewSessions, rate)
}

// Forecast is by how many sessions an alarm comes in half and in 80 % of all
// cases, where the old version failed in oldRate of n sessions, the new one in
// goodRate of its first good sessions, and in newRate of those that follow: each
// session one use, independent. 0 stands for more than pareto.ForecastCap.
// It plays trials with a fixed seed, and takes milliseconds.
func (r Rule) Forecast(oldRate float64, n int, goodRate float64, good int, newRate float64) (in50, in80 int) {
	limit := min(1, upper(oldRate, n, r.Doubt)+r.Margin)
	if newRate <= limit || limit >= 1 {
		return 0, 0
	}
	const plays = 400
	rng := rand.New(rand.NewPCG(2026, 7))
	draw := func(rate float64) float64 { return excess(coin(rng.Float64() < rate), limit) }
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

// sessions are uses by session, in order of their first.
type sessions struct {
	order []string
	known map[string]*[len(watched)]tally
}

// A tally is what the uses of a session know of one signal.
type tally struct {
	sum float64
	n   int
}

func (s *sessions) add(u Use) {
	if s.known[u.Session] == nil {
		if s.known == nil {
			s.known = map[string]*[len(watched)]tally{}
		}
		s.order, s.known[u.Session] = append(s.order, u.Session), new([len(watched)]tally)
	}
	for k, w := range watched {
		if x, ok := w.value(u); ok {
			s.known[u.Session][k].sum += x
			s.known[u.Session][k].n++
		}
	}
}

// value is the mean of a session's k-th signal; false where none of its uses
// knows it.
func (s *sessions) value(id string, k int) (float64, bool) {
	t := s.known[id][k]
	if t.n == 0 {
		return 0, false
	}
	return t.sum / float64(t.n), true
}

// values are those of all sessions that know it, in order.
func (s *sessions) values(k int) (xs []float64) {
	for _, id := range s.order {
		if x, ok := s.value(id, k); ok {
			xs = append(xs, x)
		}
	}
	return xs
}
