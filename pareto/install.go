package pareto

import (
	"math"
	"time"
)

// A TrialInstall is a challenger that is in place while its trial goes on: at its owner's
// word, or because a night found it promising enough (NightTries).
type TrialInstall struct {
	ByNight bool
	Begun   time.Time
	// Heard is when the trial last got a pair; the zero time if it has none since Begun.
	Heard time.Time
}

// What an owner's trial install may take until its trial has decided, and how long one of
// a night's may go without a new pair.
const (
	undecidedWeeks = 8
	silentWeeks    = 6
	week           = 7 * 24 * time.Hour
)

// NightTries is the e-value of quality from which a night may put the challenger of a
// skill's n-th trial in place, n from 1: 4, 12, 24, 40 … The sum of their reciprocals is
// 1/2, so of all trials of a skill that are no better, any is ever put in place with
// probability at most 1/2.
func NightTries(n int) float64 {
	k := float64(max(n, 1))
	return promising * k * (k + 1) / 2
}

// Now is the present e-value that quality is better, and the one that it is worse: on the
// requests that the trial is about or on the rest, whichever is larger. The former is the
// smallest without any one worker's pairs: no worker alone puts a text in place.
func (t *Trial) Now() (better, worse float64) {
	e := &t.evidence[Quality]
	better = e.better.E()
	for _, s := range t.without {
		better = min(better, s.evidence[Quality].better.E())
	}
	return better, max(e.worse.E(), t.rest.evidence[Quality].worse.E())
}

// Until is the time at which a trial install is taken back unless the trial decides before,
// or, for a night's, gets a new pair.
func (in TrialInstall) Until() time.Time {
	if !in.ByNight {
		return in.Begun.Add(undecidedWeeks * week)
	}
	if in.Heard.After(in.Begun) {
		return in.Heard.Add(silentWeeks * week)
	}
	return in.Begun.Add(silentWeeks * week)
}

// A Removal is why a trial install is taken back.
type Removal string

// The reasons.
const (
	Stays      Removal = ""                           // it is not
	ShownWorse Removal = "shown worse"                // the reverse e-value reached 4
	Lost       Removal = "rejected"                   // its trial ended so, or it was dropped
	NoEvidence Removal = "e fell below 1"             // of a night's
	StillOpen  Removal = "8 undecided weeks"          // of an owner's
	NoPairs    Removal = "6 weeks without a new pair" // of a night's
)

// TakeBack reports whether, and why, a trial install ends by now. A promotion ends it, too:
// the text stays.
func (t *Trial) TakeBack(in TrialInstall, now time.Time) Removal {
	better, worse := t.Now()
	late := !now.Before(in.Until())
	switch {
	case t.verdict == Promote:
		return Stays
	case t.verdict == Reject:
		return Lost
	case worse >= promising:
		return ShownWorse
	case in.ByNight && better < 1-1e-9:
		return NoEvidence
	case in.ByNight && late:
		return NoPairs
	case late:
		return StillOpen
	}
	return Stays
}

// Odds is N in "at most 1 time in N": a text that is no better ever reaches the e-value e with
// probability at most 1/e (Ville's inequality). N is e, rounded down.
func Odds(e float64) int { return int(min(math.Floor(max(e, 1)), 1e9)) }
