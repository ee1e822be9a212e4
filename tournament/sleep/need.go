package sleep

import (
	"fmt"
	"time"
)

// A Use is one use of a skill in a user's session.
type Use struct {
	Session string
	At      time.Time
	// Version is the SHA-256 of the SKILL.md that was in force, "" if it was
	// not recorded.
	Version string
	// Failed: the user corrected, rejected or repeated it. Repeated: the
	// last.
	Failed, Repeated bool
	// Unread: it may have failed, but no model has read what the user wrote after it.
	Unread bool
	// The cost of the turn in which it was used; nil is unknown.
	LatencyMS, Tokens *int64
}

// The conditions of a tournament: enough failures for a mutator to learn a
// rule from, and a window in which habits stay the same.
const (
	needFailures = 3
	needWindow   = 60 * 24 * time.Hour
)

// A Need is how much a better text would bring, estimated from the uses.
type Need struct {
	Uses   int     // of the incumbent, within the window
	Failed int     // of them
	Unread int     // of them
	Fresh  int     // failures that no tournament has learned from
	Rate   float64 // of failures, (Failed+1)/(Uses+2)
	Gain   float64 // failures a week: rate × use
	Enough bool
	Why    string
	when   string // the window, in words
}

// NeedOf estimates the need of a skill whose incumbent is live since then,
// and whose last tournament began at searched. A use without a time counts as
// old.
func NeedOf(uses []Use, since, searched, now time.Time) (n Need) {
	from := now.Add(-needWindow)
	if since.After(from) {
		from = since
	}
	for _, u := range uses {
		if u.At.Before(from) || u.At.After(now) {
			continue
		}
		n.Uses++
		if u.Failed {
			n.Failed++
			if u.At.After(searched) {
				n.Fresh++
			}
		}
		if u.Unread {
			n.Unread++
		}
	}
	n.Rate = float64(n.Failed+1) / float64(n.Uses+2)
	weeks := max(1, now.Sub(from).Hours()/24/7) // a first day is no week
	n.Gain = n.Rate * float64(n.Uses) / weeks
	n.Enough = n.Fresh >= needFailures
	n.when = "in 60 days"
	if since.Equal(from) {
		n.when = "of the live text"
	}
	n.Why = fmt.Sprintf("%d of %d uses %s failed (corrected, rejected or repeated)", n.Failed, n.Uses, n.when)
	if n.Unread > 0 {
		n.Why += fmt.Sprintf(", %d more were not read by a model", n.Unread)
	}
	if !searched.IsZero() {
		n.Why += fmt.Sprintf(", %d since the last search", n.Fresh)
	}
	return n
}
