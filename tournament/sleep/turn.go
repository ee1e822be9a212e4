package sleep

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval/plain"
)

// A Shortfall is a tournament that a cap ended without a result.
type Shortfall struct {
	// Caps are those of the night that was too small for it; zero if it had
	// only a part of a night: it is tried again with a whole one.
	Caps Caps `json:"caps,omitzero"`
	// Searched is when the tournament before it began. Under a larger budget,
	// corrections since then count again.
	Searched time.Time `json:"searched,omitzero"`
}

// searched is when the last tournament began that could learn from
// corrections, for a night with these caps.
func (s *State) searched(caps Caps) time.Time {
	if s.Short != nil && s.Short.Caps != (Caps{}) && s.Short.Caps.Within(caps) != caps {
		return s.Short.Searched
	}
	return s.Searched
}

// needs are what a search takes: a whole night if a part of one was too
// little.
func (s *State) needs(forecast, night Caps) Caps {
	if s.Short != nil && s.Short.Caps == (Caps{}) {
		return night
	}
	return forecast
}

// tell enters the result of a continuation or a search, and returns what to
// add to its note. People's corrections have had their chance if the search
// came to its end, or to a challenger; if it had all that it was forecast to
// take; or if it had a whole night, and another one like it would end the
// same. Entering the same result again changes nothing.
func (s *State) tell(n *Night, step *Step, r *Result) (more string) {
	if r.Early { // what was read is kept, and the next turn continues there
		s.Served = step.Began
		return ""
	}
	if step.Kind == Search && step.Part == Description {
		s.Described = step.Described
	}
	if step.Kind != Search || step.Part == Description {
		s.Served = step.Began
		return ""
	}
	caps := step.Caps
	enough := step.Needs.Rollouts > 0 && caps.Rollouts >= step.Needs.Rollouts && r.StoppedBy == capRollouts
	switch {
	case r.Decision != "" || !r.Stopped || enough && step.Needs != n.Caps:
		s.Searched, s.Served, s.Short = step.Began, step.Began, nil
	case caps == n.Caps:
		if !s.Searched.Equal(step.Began) {
			s.Short = &Shortfall{Caps: n.Caps, Searched: s.Searched}
		}
		s.Searched, s.Served = step.Began, step.Began
		if step.Needs.Rollouts > n.Caps.Rollouts && n.Caps.Rollouts > 0 {
			return fmt.Sprintf("; a search takes about %s, a night has %d: raise --max-rollouts, or it waits for new corrections", rollouts(step.Needs.Rollouts), n.Caps.Rollouts)
		}
		return fmt.Sprintf("; that was a whole night: raise --%s, or it waits for new corrections", cmp.Or(r.StoppedBy, "max-cost-usd"))
	default:
		s.Short = &Shortfall{Searched: s.Searched}
		return "; it is searched again with a whole night"
	}
	return ""
}

// capRollouts is a Result's name of the cap on rollouts.
const capRollouts = "max-rollouts"

// order sorts the paid steps of a night by expected gain, but skills that
// have had a turn in this round come after those that have not. A round is
// over when all had one, except those that such a night is too small for; a
// night for some skills alone ends no round. Comparisons get what the others
// leave.
func (n *Night) order(paid []Step, served map[string]time.Time, now time.Time) {
	had := func(s Step) bool { at := served[s.Skill]; return !at.IsZero() && !at.Before(n.Round) }
	if len(n.Skills) == 0 && !slices.ContainsFunc(paid, func(s Step) bool { return s.Kind != Compare && !had(s) && !s.Beyond(n.Caps) }) {
		n.Round = now
	}
	slices.SortStableFunc(paid, func(a, b Step) int {
		if x, y := a.Kind == Compare, b.Kind == Compare; x != y {
			return before(y)
		}
		if x, y := had(a), had(b); x != y {
			return before(y)
		}
		return cmp.Compare(b.Gain, a.Gain)
	})
}

// before orders two of which exactly one comes last.
func before(second bool) int {
	if second {
		return -1
	}
	return 1
}

func rollouts(n int64) string { return plain.Counted(n, "rollout") }
