package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
)

// bus reads what hooks have recorded. A failure to read it is a problem of that file
// and does not stop the harvest.
func (g *Ingester) bus() (*hook.Live, []harvest.Problem) {
	var problems []harvest.Problem
	records, broken, err := hook.Read(string(g.Dir))
	if err != nil {
		problems = append(problems, harvest.Problem{Path: hook.BusFile, Reason: plain.Line(err.Error())})
	}
	if broken > 1 { // one may be incomplete
		problems = append(problems, harvest.Problem{Path: hook.BusFile, Reason: fmt.Sprintf("%d lines are no records", broken)})
	}
	return hook.Join(records), problems
}

// emptyQueue removes from the queue what this harvest, begun at that time, has read and
// stored.
func (g *Ingester) emptyQueue(began time.Time) error {
	if g.Access != datadir.Writes {
		return nil
	}
	if g.Transcript != "" {
		return hook.Took(string(g.Dir), g.Transcript, began)
	}
	return hook.Harvested(string(g.Dir), began)
}

// SessionEvents are the skill events of one session.
type SessionEvents struct {
	Session string `json:"session"`
	Agent   string `json:"agent"`
	Path    string `json:"path"`
	harvest.Sidecar
}

// Events lists the skill events of each stored session that has some, the oldest first,
// and then those of sessions that only hooks have recorded. If only is not "", it lists
// the events of that skill. A session that may not be read is left out.
func (g *Ingester) Events(ctx context.Context, only string) ([]SessionEvents, error) {
	sessions, err := g.Store.Sessions(ctx, store.SessionFilter{Skill: only})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(sessions, func(s, t harvest.Session) int {
		return cmp.Or(s.Started.Compare(t.Started), cmp.Compare(s.ID, t.ID), cmp.Compare(s.Path, t.Path))
	})
	var out []SessionEvents
	for i := range sessions {
		s := &sessions[i]
		if g.Gate != nil && !g.Gate.Allowed(s.WorkedIn()) {
			continue
		}
		if only != "" {
			s.Invocations = slices.DeleteFunc(s.Invocations, func(v harvest.Invocation) bool { return v.Skill != only })
		}
		if side := harvest.Events(s); len(side.Events) > 0 {
			out = append(out, SessionEvents{s.ID, s.Agent, s.Path, side})
		}
	}
	return append(out, g.unwritten(sessions, only)...), nil
}

// unwritten are the events of sessions that are only on the bus: their transcript was
// never written, or was deleted.
func (g *Ingester) unwritten(stored []harvest.Session, only string) (out []SessionEvents) {
	live, _ := g.bus()
	for _, id := range live.Sessions() {
		if slices.ContainsFunc(stored, func(s harvest.Session) bool { return s.ID == id }) || g.Gate != nil && !g.Gate.Allowed(live.WorkedIn(id)) {
			continue
		}
		side := live.Events(id)
		if only != "" {
			side.Events = slices.DeleteFunc(side.Events, func(e harvest.Event) bool { return e.Skill.Name != only })
		}
		if len(side.Events) > 0 {
			out = append(out, SessionEvents{id, side.Events[0].Source.Agent, hook.BusFile, side})
		}
	}
	return out
}
