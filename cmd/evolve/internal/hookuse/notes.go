package hookuse

import (
	"time"

	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/harvest/hook/kit"
)

// A note is a decision that a guard wrote to the bus: `hook-kit bus add decision=block`.
type note struct {
	key, hook string
	decision  guard.Decision
	time      time.Time
	found     bool // the call that it is about
}

// notes are decisions on the bus, by session.
type notes map[string][]*note

func notesOf(records []hook.Record, from time.Time) notes {
	out := notes{}
	for _, r := range records {
		d, at := guard.Decision(r.Note["decision"]), harvest.When(r.Event.Timestamp)
		if at.Before(from) {
			continue
		}
		if r.Phase == hook.Noted && r.On == events.PreToolUse && (d == guard.Block || d == guard.Ask) {
			out[r.Session] = append(out[r.Session], &note{key: r.Key, hook: r.Hook, decision: d, time: at})
		}
	}
	return out
}

// of are the decisions on a call: a record is known by the call's id and the hook's name.
func (n notes) of(e *events.Event) (out []note) {
	if len(n) == 0 {
		return nil
	}
	event, err := kit.Parse(e.Input)
	if err != nil {
		return nil
	}
	for _, one := range n[event.Session] {
		if one.key == event.ID(one.hook) {
			one.found = true
			out = append(out, *one)
		}
	}
	return out
}
