package main

import (
	"fmt"

	"github.com/skill-evolve/evolve/tournament/sleep"
)

// A turnStatus is what keeps a skill from its turn of a night's budget.
type turnStatus struct {
	Step     string `json:"step"`     // as in the night: "search", "continue", "certify"
	Needs    int64  `json:"needs"`    // rollouts
	MaxNight int64  `json:"of_night"` // what a whole night has; 0 for no cap
	// Beyond: no night like the last one can carry it. Else it has its turn in a later
	// one.
	Beyond bool   `json:"beyond"`
	Why    string `json:"why"` // in words
}

// laterOf says what the last night left to a later one, nil for nothing, or where
// something was run since or the text is another one.
func laterOf(last *sleep.Night, s *skillStatus) *turnStatus {
	if last == nil || s.Pinned || s.ran.After(last.Began) {
		return nil
	}
	for i := range last.Steps {
		k := &last.Steps[i]
		if k.Skill != s.Skill || k.Stage != sleep.Waits || k.Live != "" && k.Live != s.Live.SHA {
			continue
		}
		t := &turnStatus{Step: string(k.Kind), Needs: max(k.Needs.Rollouts, k.Rollouts), MaxNight: last.Caps.Rollouts, Beyond: k.Beyond(last.Caps), Why: oneLine(k.Note)}
		if t.Beyond {
			t.Why = fmt.Sprintf("takes about %d, a night has %d", t.Needs, t.MaxNight)
		}
		return t
	}
	return nil
}

// waitingTurns counts the skills that a later night of the same size comes to.
func (r *statusReport) waitingTurns() (n int) {
	for i := range r.Skills {
		if t := r.Skills[i].Turn; t != nil && !t.Beyond {
			n++
		}
	}
	return n
}
