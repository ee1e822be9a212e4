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

// A Rule decides when real sessions raise an alarm about an installed
// version.
//
// The hypothesis is that it is no worse than any text that it and its
// predecessors replaced: that every signal is at or below its limit. The
// limit is the smallest of the upper bounds from the predecessors (see
// stretch), and a margin on top, because the tasks of this week differ from
// those of the last. So a predecessor with a dozen sessions, of which little
// is known, hides nothing: the texts before it still count for the limit.
// Each Signal has an e-process against its own limit; their mean, weighted by
// their shares of the error, is one against the hypothesis, however they
// depend on each other. It is never below what Bonferroni would compare, the
// largest of them at its share of Alpha, and small evidence of several kinds
// adds up.
//
// An e-process may be looked at every night: if the hypothesis holds, it ever
// raises an alarm with probability at most Alpha, and a bound is wrong with
// probability at most Doubt, all signals and predecessors together. What
// people ask for changes with their work, so an alarm is a reason to look,
// and no proof.
type Rule struct {
	Alpha  float64
	Doubt  float64
	Margin float64 // of shares
	Dearer float64 // factor that latency and tokens may rise by
}

// DefaultRule is the rule of the nights.
var DefaultRule = Rule{Alpha: 0.05, Doubt: 0.05, Margin: 0.05, Dearer: 1.25}

// of is the rule for one signal by itself, with its share of the new
// sessions' error.
func (r Rule) of(weight float64) Rule {
	r.Alpha *= weight
	return r
}

// An Alarm is the evidence of real sessions against an installed version.
type Alarm struct {
	Skill   string    `json:"skill"`
	Version string    `json:"version"` // SHA-256
	Before  string    `json:"before"`  // SHA-256 of the version that it replaced
	Since   time.Time `json:"since"`
	// OldSessions and NewSessions are counts; OldRate and NewRate are the
	// shares of failed uses, averaged over sessions. The old ones are those
	// of the versions that corrections are compared with: see Signal.
	OldSessions int     `json:"old_sessions"`
	NewSessions int     `json:"new_sessions"`
	OldRate     float64 `json:"old_rate"`
	NewRate     float64 `json:"new_rate"`
	// Limit is the largest acceptable new rate, 1 if too little is known.
	Limit   float64  `json:"limit"`
	Signals []Signal `json:"signals,omitempty"` // all that is watched, corrections first
	EValue  float64  `json:"e_value"`           // the largest so far, all signals together
	Alpha   float64  `json:"alpha"`
	// At is the number of new sessions at which it was raised, 0 for no alarm.
	At int `json:"at"`
	// Needed is the number of further sessions by which an alarm is likely
	// (in 80 % of cases) if from now on 25 points more of them fail than the
	// limit allows; 0 for more than pareto.ForecastCap, or if too little is
	// known.
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
		said = append(said, fmt.Sprintf("failures in %.0f %% of %d sessions, before it in %.0f %% of %d", 100*a.NewRate, a.NewSessions, 100*a.OldRate, a.OldSessions))
	}
	s := fmt.Sprintf("%s; %s, %s raises the alarm", strings.Join(said, "; "), pareto.Chance(a.EValue), pareto.Proves(a.Alpha))
	if a.Limit >= 1 {
		s += "; too few old sessions to tell"
	}
	return s
}

// Look judges the version that is in place; before are its predecessors, the
// newest first. A use belongs to the version whose hash it carries, else to
// the text that was in place at its time; uses of other texts are ignored.
// Uses of one session are not independent: a session counts once, by the mean
// over its uses.
func (r Rule) Look(version string, before []Predecessor, h Timeline, uses []Use) *Alarm {
	a := r.judge(version, before, h, uses)
	if c := &a.Signals[0]; c.Weight > 0 {
		a.Needed = r.of(c.Weight).needed(c.limit, a.NewRate, a.NewSessions, min(1, a.Limit+0.25))
	}
	return a
}

// judge is Look without the forecast, which takes most of its time.
func (r Rule) judge(version string, before []Predecessor, h Timeline, uses []Use) *Alarm {
	a := &Alarm{Version: version, Since: h.Since(), Alpha: r.Alpha, Limit: 1}
	if len(before) > 0 {
		a.Before = before[0].SHA
	}
	known := map[string]int{}
	for k, p := range before {
		if !p.Suspect && p.SHA != version {
			known[p.SHA] = k
		}
	}
	news, of := &sessions{}, make([]int, len(uses))
	for i, u := range uses {
		sha := u.Version
		if sha == "" {
			sha = h.At(u.At)
		}
		of[i] = -1
		if k, old := known[sha]; old {
			of[i] = k
		} else if sha == version && sha != "" {
			news.add(u)
		}
	}
	r.setLimits(a, stretches(before, uses, of), before)
	a.NewSessions = len(news.order)
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
		s.NewSessions, s.New = len(values), s.mean(values)
		if s.Raised {
			s.LateSessions = s.late(values)
			s.Late = s.mean(values[len(values)-s.LateSessions:])
		}
	}
	c := &a.Signals[0]
	a.OldSessions, a.OldRate, a.NewRate = c.OldSessions, c.Old, c.New
	if c.Weight > 0 {
		a.Limit = c.limit
	}
	return a
}

// setLimits divides the error over the signals, and sets the limits. It uses old
// sessions alone: weights that depended on new ones would be no weights of an
// e-process. The doubt is divided by the number of sessions, never by their
// outcomes: a bound whose level depended on these would not hold at that
// level.
func (r Rule) setLimits(a *Alarm, olds []stretch, before []Predecessor) {
	a.Signals = make([]Signal, len(watched))
	told, able := 0.0, 0.0
	knows := func(k int) bool {
		return slices.ContainsFunc(olds, func(s stretch) bool { return len(s.values(k)) > 0 })
	}
	for k, w := range watched {
		if knows(k) {
			told += w.part
		}
	}
	for k, w := range watched {
		s := &a.Signals[k]
		*s = Signal{Name: w.name, detector: newDetector()}
		if told > 0 && s.setLimit(r, olds, k, r.Doubt*w.part/told, before) {
			s.Weight = w.part
			able += w.part
		}
	}
	for k := range a.Signals {
		if able > 0 {
			a.Signals[k].Weight /= able
		}
	}
}

// Forecast is the number of further sessions after which corrections alone
// raise the alarm in half and in 80 % of all cases, if from now on they fail
// at this rate.
func (a *Alarm) Forecast(r Rule, rate float64) (in50, in80 int) {
	c := &a.Signals[0]
	if c.Weight == 0 {
		return 0, 0
	}
	return r.of(c.Weight).Forecast(c.limit, a.NewRate, a.NewSessions, rate)
}

// Forecast is the number of sessions after which an alarm has come in half
// and in 80 % of all cases, if failures are compared with this limit, and the
// new version failed in goodRate of its first good sessions, and in newRate
// of those that follow: each session one use, independent. 0 means more than
// pareto.ForecastCap. It simulates trials with a fixed seed, and takes
// milliseconds. The figure for 80 % is conservative by two standard errors of
// the simulation.
func (r Rule) Forecast(limit float64, goodRate float64, good int, newRate float64) (in50, in80 int) {
	if newRate <= limit || limit >= 1 {
		return 0, 0
	}
	at := r.ends(limit, goodRate, good, newRate, 0.5)
	return at(0.5), at(onTheSafeSide)
}

// needed is the second of what Forecast returns.
func (r Rule) needed(limit float64, goodRate float64, good int, newRate float64) int {
	if newRate <= limit || limit >= 1 {
		return 0
	}
	return r.ends(limit, goodRate, good, newRate, onTheSafeSide)(onTheSafeSide)
}

// plays is how many trials a forecast simulates.
const plays = 400

// onTheSafeSide is 80 % and two standard errors of so many plays.
var onTheSafeSide = 0.8 + 2*math.Sqrt(0.8*0.2/plays)

// ends simulates the trials of Forecast; the function that it returns is the
// number of sessions by which a share of them has its alarm, for shares of at
// least this one. The simulation stops as soon as too few can have it.
func (r Rule) ends(limit, goodRate float64, good int, newRate, least float64) func(share float64) int {
	rng := rand.New(rand.NewPCG(2026, 7))
	failed, passed := factorsOf(excess(1, limit)), factorsOf(excess(0, limit))
	draw := func(rate float64) *factors {
		if rng.Float64() < rate {
			return &failed
		}
		return &passed
	}
	ends := make([]int, plays)
	never := 0
	for i := range ends {
		d := newDetector()
		for range good { // an alarm before there was a reason is no help
			d.stake(draw(goodRate))
		}
		for ends[i] = 1; ends[i] <= pareto.ForecastCap; ends[i]++ {
			if d.stake(draw(newRate)); d.reaches(1 / r.Alpha) {
				break
			}
		}
		if ends[i] > pareto.ForecastCap {
			if never++; plays-never < rank(least) {
				return func(float64) int { return 0 }
			}
		}
	}
	slices.Sort(ends)
	return func(share float64) int {
		if n := ends[rank(share)-1]; n <= pareto.ForecastCap {
			return n
		}
		return 0
	}
}

// rank is the number of simulated trials in a share of them.
func rank(share float64) int { return int(math.Ceil(share * plays)) }

// sessions groups uses by session, in the order of their first use.
type sessions struct {
	order []string
	known map[string]*[len(watched)]tally
}

// A tally sums up the uses of a session for one signal.
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

// value is the mean of a session's k-th signal; false if none of its uses has
// a value.
func (s *sessions) value(id string, k int) (float64, bool) {
	t := s.known[id][k]
	if t.n == 0 {
		return 0, false
	}
	return t.sum / float64(t.n), true
}

// values are the values of all sessions that have one, in order.
func (s *sessions) values(k int) (xs []float64) {
	for _, id := range s.order {
		if x, ok := s.value(id, k); ok {
			xs = append(xs, x)
		}
	}
	return xs
}

// fell counts the sessions whose k-th signal, a share, falls as a coin (see
// the function fell).
func (s *sessions) fell(k int) (n int) {
	for _, id := range s.order {
		if x, ok := s.value(id, k); ok && fell(x, id) {
			n++
		}
	}
	return n
}

// TakenBack is the end of an alarm's note if the version was rolled back.
const TakenBack = "was taken back"
