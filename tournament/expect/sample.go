// Package expect forecasts what replays take from what the turns of a person's own
// recorded sessions took, and what a proof takes, in held-out cases and in weeks.
package expect

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/store"
)

const (
	// newest is how many sessions of each kind are read: older ones change little.
	newest = 300
	// halfLife is the age at which a turn counts half. Shorter ones were worse on the
	// sessions that this was developed on: a few long sessions then count for all.
	halfLife = 90 * 24 * time.Hour
	// borrow is for how many turns the less specific turns count together: those of the
	// agent beside those with the skill, those of other agents beside the agent's, and a
	// known spread beside all.
	borrow = 10
)

// A turn is what one recorded turn took.
type turn struct {
	session string
	usage   eval.Usage
	seconds float64 // 0 is unknown
	weight  float64
}

// A Sample is recorded turns, weighted by how much they say of the replays of a skill's
// cases through an agent. The zero Sample has none.
type Sample struct {
	Skill  string `json:"skill"`
	Agent  string `json:"agent"`
	With   int    `json:"turns_with_skill"`
	Of     int    `json:"turns_of_agent"` // others, of the same agent
	Others int    `json:"turns_of_others"`
	// Model is what answered in the newest session of the agent; "" is unknown.
	Model string `json:"-"`

	turns    []turn
	spread   float64 // weight of the known spread
	sessions []float64
}

// Read reads the newest sessions of a person for a skill, "" for none, and an agent by the
// name that its sessions have, "" for any. Sessions that a program drove say nothing of a
// person's turns, and are left out.
func Read(ctx context.Context, db *store.Store, skill, agent string) (*Sample, error) {
	filters := []store.SessionFilter{{}}
	if skill != "" {
		filters = append(filters, store.SessionFilter{Skill: skill})
	}
	if agent != "" {
		filters = append(filters, store.SessionFilter{Agent: agent})
	}
	var all []*harvest.Session
	for _, f := range filters {
		f.People, f.Limit = true, newest
		list, err := db.Sessions(ctx, f)
		if err != nil {
			return nil, err
		}
		for i := range list {
			all = append(all, &list[i])
		}
	}
	return Of(all, skill, agent), nil
}

// Of is Read of these sessions.
func Of(sessions []*harvest.Session, skill, agent string) *Sample {
	s := &Sample{Skill: skill, Agent: agent}
	type found struct {
		turn
		at   time.Time
		kind int // 0: with the skill, 1: of the agent, 2: of another one
	}
	var all []found
	var last time.Time
	for _, ses := range harvest.Distinct(sessions) { // by their beginning
		if ses.Headless || ses.Subagent != "" {
			continue
		}
		used := map[int]bool{}
		for _, v := range ses.Invocations {
			if v.Skill == skill && v.Used() {
				used[v.Turn] = true
			}
		}
		total := 0.0
		for i := range ses.Turns {
			t := &ses.Turns[i]
			if t.Usage == nil || t.Usage.Total() <= 0 {
				continue
			}
			total += float64(t.Usage.Total())
			if t.Interrupted { // its figures are incomplete
				continue
			}
			f := found{turn{session: ses.ID, usage: *t.Usage}, t.Time, 2}
			if t.DurationMS != nil && *t.DurationMS > 0 {
				f.seconds = float64(*t.DurationMS) / 1000
			}
			if f.at.IsZero() {
				f.at = ses.Started
			}
			if last.Before(f.at) {
				last = f.at
			}
			switch {
			case used[i]:
				f.kind, s.With = 0, s.With+1
			case agent == "" || ses.Agent == agent:
				f.kind, s.Of = 1, s.Of+1
			default:
				s.Others++
			}
			all = append(all, f)
		}
		if total > 0 {
			s.sessions = append(s.sessions, total)
		}
		if ses.Model != "" && (agent == "" || ses.Agent == agent) {
			s.Model = ses.Model
		}
	}
	var sum, share [3]float64
	for i := range all {
		f := &all[i]
		f.weight = math.Exp2(-float64(last.Sub(f.at)) / float64(halfLife))
		sum[f.kind] += f.weight
	}
	// What a kind of turns leaves unsaid is left to the next one.
	left := 1.0
	for k := range sum {
		share[k] = left * sum[k] / (sum[k] + borrow)
		left -= share[k]
	}
	s.spread = left
	for _, f := range all {
		f.weight *= share[f.kind] / sum[f.kind]
		s.turns = append(s.turns, f.turn)
	}
	return s
}

// Known reports whether there is any turn to forecast from.
func (s *Sample) Known() bool { return s != nil && len(s.turns) > 0 }

// String says what a forecast rests on, "" for nothing.
func (s *Sample) String() string {
	rest, with := plain.Thousands(int64(cmp.Or(s.Of, s.Others))), ""
	switch {
	case s.Of == 0 && s.Others > 0 && s.Agent != "":
		with = " with other agents"
	case s.Agent != "":
		with = " with " + plain.Agent(s.Agent)
	}
	switch {
	case !s.Known():
		return ""
	case s.With == 0:
		return fmt.Sprintf("from %s of your turns%s", rest, with)
	case s.With >= borrow || s.Of+s.Others == 0:
		return fmt.Sprintf("from %s of your turns with %s", plain.Thousands(int64(s.With)), s.Skill)
	}
	return fmt.Sprintf("from %d of your turns with %s and %s others%s", s.With, s.Skill, rest, with)
}

// MedianSession is the tokens of the median session; 0 if none is recorded.
func (s *Sample) MedianSession() float64 {
	if s == nil || len(s.sessions) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s.sessions))
	return sorted[len(sorted)/2]
}
