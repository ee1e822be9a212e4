package status

import (
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/store"
)

// A Session is one stored session: its transcript and those of its
// subagents together.
type Session struct {
	ID          string    `json:"session"`
	Agent       string    `json:"agent"`
	Started     time.Time `json:"started,omitzero"`
	Headless    bool      `json:"headless,omitempty"`
	Paths       []string  `json:"paths"`             // of the transcripts
	Expired     bool      `json:"expired,omitempty"` // the text of one of them, and its path
	Uses        int       `json:"uses"`
	Skills      []string  `json:"skills"`         // that it used, in order
	Cases       []string  `json:"cases"`          // ids of those that were made of it
	Acts        int       `json:"acts,omitempty"` // what its agent did, if it was loaded
	Invocations []UsedAt  `json:"invocations,omitempty"`
}

// A UsedAt is one use of a skill and its outcome.
type UsedAt struct {
	Skill   string    `json:"skill"`
	Outcome string    `json:"outcome"`
	Time    time.Time `json:"time,omitzero"`
}

// SessionsWith groups transcripts by their session, in order.
func SessionsWith(sessions []harvest.Session, cases []eval.Case) []Session {
	at := map[string]int{}
	out := []Session{}
	for _, s := range sessions {
		i, ok := at[s.ID]
		if !ok {
			i = len(out)
			at[s.ID] = i
			out = append(out, Session{ID: s.ID, Agent: s.Agent, Started: s.Started, Headless: s.Headless, Paths: []string{}, Skills: []string{}, Cases: []string{}})
		}
		l := &out[i]
		if store.IsHashed(s.Path) {
			l.Expired = true
		} else {
			l.Paths = append(l.Paths, s.Path)
		}
		for _, t := range s.Turns {
			l.Acts += len(t.Work)
		}
		for _, v := range s.Invocations {
			if !v.Used() {
				continue
			}
			l.Uses++
			l.Skills = append(l.Skills, v.Skill)
			l.Invocations = append(l.Invocations, UsedAt{v.Skill, string(v.Feedback.Label), v.Time})
		}
	}
	for _, c := range cases {
		if c.Source == nil {
			continue
		}
		if i, ok := at[c.Source.Session]; ok {
			out[i].Cases = append(out[i].Cases, c.ID)
		}
	}
	for i := range out {
		slices.Sort(out[i].Skills)
		out[i].Skills = slices.Compact(out[i].Skills)
		slices.SortStableFunc(out[i].Invocations, func(v, w UsedAt) int { return v.Time.Compare(w.Time) })
	}
	return out
}
