package sleep

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/skill-evolve/evolve/pareto"
)

// The signals of the watch, each with a share of its error: corrections half,
// the others a sixth each. Signals with too few old sessions get none.
const (
	Corrections = "corrections" // uses that were corrected, rejected or repeated
	Repeats     = "repeats"     // uses that were repeated
	Latency     = "latency"     // milliseconds of the turn in which it was used
	Tokens      = "tokens"      // of that turn, cached ones included
)

var watched = [...]struct {
	name  string
	part  float64
	value func(Use) (x float64, known bool)
}{
	{Corrections, 3, func(u Use) (float64, bool) { return coin(u.Failed), true }},
	{Repeats, 1, func(u Use) (float64, bool) { return coin(u.Repeated), true }},
	{Latency, 1, func(u Use) (float64, bool) { return positive(u.LatencyMS) }},
	{Tokens, 1, func(u Use) (float64, bool) { return positive(u.Tokens) }},
}

func coin(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// positive: sessions are averaged by the logarithm.
func positive(n *int64) (float64, bool) {
	if n == nil || *n <= 0 {
		return 0, false
	}
	return math.Log(float64(*n)), true
}

// A Signal is the evidence of real sessions on one quantity.
type Signal struct {
	Name string `json:"name"`
	// Against names the version, or the versions together, that it is
	// compared with: of all predecessors those with the lowest limit.
	Against string `json:"against,omitempty"`
	// OldSessions and NewSessions count the sessions with a value,
	// OldSessions those of Against.
	OldSessions int `json:"old_sessions"`
	NewSessions int `json:"new_sessions"`
	// Old and New are shares, averaged over sessions; of latency (milliseconds)
	// and tokens geometric means.
	Old float64 `json:"old"`
	New float64 `json:"new"`
	// Limit is the largest acceptable value of the new one; 0 if too little
	// is known.
	Limit float64 `json:"limit"`
	// Weight is its share of the error, 0 if there is no limit; the weights
	// add up to 1.
	Weight float64 `json:"weight"`
	EValue float64 `json:"e_value"` // the largest so far
	// Late is New of the newest LateSessions alone, if they raised it and all
	// sessions together are within the limit: the deterioration came later.
	Late         float64 `json:"late,omitempty"`
	LateSessions int     `json:"late_sessions,omitempty"`
	// Raised: it has a part in an alarm, a quarter of the evidence or more.
	Raised bool `json:"raised,omitempty"`

	limit    float64 // of what is bet on: in [0,1], of ratios in [-1,1]
	ref      float64 // logarithm of what ratios are against
	detector *detector
}

// ratio reports whether it is compared by factors; otherwise it is a share.
func (s *Signal) ratio() bool { return s.Name == Latency || s.Name == Tokens }

func (s *Signal) String() string {
	now, of := s.New, fmt.Sprint(s.NewSessions)
	if s.LateSessions > 0 {
		now, of = s.Late, fmt.Sprintf("the last %d of %d", s.LateSessions, s.NewSessions)
	}
	if s.ratio() {
		return fmt.Sprintf("%s ×%.2g in %s sessions, against %d with %s", s.Name, now/s.Old, of, s.OldSessions, s.before())
	}
	what := s.Name
	if s.Name == Corrections {
		what = "failures"
	}
	return fmt.Sprintf("%s in %.0f %% of %s sessions, with %s in %.0f %% of %d", what, 100*now, of, s.before(), 100*s.Old, s.OldSessions)
}

// before describes what it is compared with; older records do not name it.
func (s *Signal) before() string { return cmp.Or(s.Against, "the version before it") }

// A factor of 4 is the unit of latency and tokens; a larger one counts the same.
var logUnit = math.Log(4)

// refShare is the part of the old sessions, the oldest, that defines what is
// usual. The bound rests on the others: a bound on values that were divided
// by their own median would not hold.
const refShare = 3

// setLimit takes the smallest of the limits from the predecessors; doubt is the
// chance that any of their bounds is wrong. It reports whether there is one.
func (s *Signal) setLimit(r Rule, olds []stretch, k int, doubt float64, before []Predecessor) bool {
	found := false
	for i := range olds {
		t := Signal{Name: s.Name, Against: olds[i].named(before)}
		ok := t.limitBy(r, olds[i].values(k), olds[i].fell(k), doubt/float64(len(olds)))
		if ok && (!found || t.Limit < s.Limit) || !found && s.OldSessions == 0 {
			t.detector = s.detector
			*s, found = t, ok
		}
	}
	return found
}

// limitBy computes the limit from one stretch of old sessions with these
// values, of which so many fell as coins; doubt is the chance that its bound
// is wrong. It reports whether there is one.
func (s *Signal) limitBy(r Rule, olds []float64, fell int, doubt float64) bool {
	s.OldSessions = len(olds)
	if len(olds) == 0 {
		return false
	}
	mean := meanOf(olds)
	if !s.ratio() {
		s.Old = mean
		s.limit = min(1, upper(fell, len(olds), doubt)+r.Margin)
		s.Limit = s.limit
		if s.limit >= 1 {
			s.Limit = 0
		}
		return s.limit < 1
	}
	s.Old = math.Exp(mean)
	n := len(olds) / refShare
	if n == 0 {
		return false
	}
	first := slices.Clone(olds[:n])
	slices.Sort(first)
	s.ref = first[n/2]
	var rest []float64
	for _, v := range olds[n:] {
		rest = append(rest, s.against(v))
	}
	s.limit = pareto.Compare(rest, 1-2*doubt).High + math.Log(r.Dearer)/logUnit
	if s.limit >= 1 {
		return false
	}
	s.Limit = math.Exp(s.ref + s.limit*logUnit)
	return true
}

// against converts a value into the unit of the bets.
func (s *Signal) against(v float64) float64 {
	if !s.ratio() {
		return v
	}
	return max(-1, min(1, (v-s.ref)/logUnit))
}

// late counts the newest values with the strongest evidence against the
// limit; 0 if all of them together are above it.
func (s *Signal) late(values []float64) (n int) {
	sum, most := 0.0, 0.0
	for k := 1; k <= len(values); k++ {
		sum += s.against(values[len(values)-k])
		if over := sum/float64(k) - s.limit; over > 0 && over*over*float64(k) > most {
			most, n = over*over*float64(k), k
		}
	}
	if sum > s.limit*float64(len(values)) {
		return 0
	}
	return n
}

// mean is the mean of values, in New's unit.
func (s *Signal) mean(values []float64) float64 {
	mean := meanOf(values)
	if s.ratio() && len(values) > 0 {
		mean = math.Exp(mean)
	}
	return mean
}

// bet enters a new session's value.
func (s *Signal) bet(v float64) {
	x := s.against(v)
	if s.ratio() {
		s.detector.add((x - s.limit) / max(1+s.limit, 1-s.limit))
		return
	}
	s.detector.add(excess(x, s.limit))
}

// excess scales x - limit to at most 1 and at least -1: its expectation is not
// positive if that of x ∈ [0,1] is at most limit.
func excess(x, limit float64) float64 { return (x - limit) / max(limit, 1-limit) }

func meanOf(xs []float64) (mean float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	return mean
}
