package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/hook"
	hooksettings "github.com/skill-evolve/evolve/harvest/hook/settings"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
)

// live reads what hooks have noted. What cannot be read is a problem of that
// file, and no reason not to harvest.
func (a *app) live() (*hook.Live, []harvest.Problem, error) {
	home, err := a.home()
	if err != nil {
		return nil, nil, err
	}
	var problems []harvest.Problem
	records, broken, err := hook.Read(string(home))
	if err != nil {
		problems = append(problems, harvest.Problem{Path: hook.BusFile, Reason: oneLine(err.Error())})
	}
	if broken > 1 { // one may be on its way
		problems = append(problems, harvest.Problem{Path: hook.BusFile, Reason: fmt.Sprintf("%d lines are no records", broken)})
	}
	return hook.Join(records), problems, nil
}

// unwritten are the events of sessions that are on the bus alone: their
// transcript was never written, or is gone.
func (a *app) unwritten(stored []harvest.Session, only string) ([]sessionEvents, error) {
	live, _, err := a.live()
	if err != nil {
		return nil, err
	}
	var out []sessionEvents
	for _, id := range live.Sessions() {
		if slices.ContainsFunc(stored, func(s harvest.Session) bool { return s.ID == id }) {
			continue
		}
		side := live.Events(id)
		if only != "" {
			side.Events = slices.DeleteFunc(side.Events, func(e harvest.Event) bool { return e.Skill.Name != only })
		}
		if len(side.Events) > 0 {
			out = append(out, sessionEvents{id, side.Events[0].Source.Agent, hook.BusFile, side})
		}
	}
	return out, nil
}

// outbox writes what hooks read at the next session.
func (a *app) outbox() (*hooksettings.Outbox, error) {
	home, err := a.home()
	return &hooksettings.Outbox{Dir: home, Access: a.access, Now: a.Now, Say: a.Say}, err
}

// leaveNote tells the next session something.
func (a *app) leaveNote(skill string, kind hook.NoteKind, format string, args ...any) {
	o, err := a.outbox()
	if err != nil {
		a.Say("the next session will not hear of %s: %v", skill, err)
		return
	}
	o.Leave(skill, kind, format, args...)
}

// guardQuarantine keeps the skill's texts in quarantine from being loaded.
func (a *app) guardQuarantine(ctx context.Context, db *store.Store, name string) error {
	o, err := a.outbox()
	if err != nil {
		return err
	}
	return o.Guard(ctx, db, name)
}

// harvestedQueue empties the queue of what this harvest, begun at that time, has
// read and kept.
func (a *app) harvestedQueue(began time.Time) error {
	if a.access != datadir.Writes {
		return nil
	}
	home, err := a.home()
	if err != nil {
		return err
	}
	return hook.Harvested(string(home), began)
}
