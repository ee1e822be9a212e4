package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/hook"
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

// leaveNote tells the next session something. A note that cannot be left is said
// now instead.
func (a *app) leaveNote(skill string, kind hook.NoteKind, format string, args ...any) {
	if a.access != datadir.Writes {
		return
	}
	home, err := a.home()
	if err == nil {
		err = hook.Leave(string(home), hook.Note{Skill: skill, Kind: kind, Time: a.Now().UTC(), Text: fmt.Sprintf(format, args...)})
	}
	if err == nil && kind == hook.Installed { // what waited is decided
		err = hook.Withdraw(string(home), skill, hook.Waiting)
	}
	if err != nil {
		a.Say("the next session will not hear of %s: %v", skill, err)
	}
}

// guardQuarantine makes hooks keep the skill's texts in quarantine from being
// loaded, but for those that the owner has approved.
func (a *app) guardQuarantine(ctx context.Context, db *store.Store, name string) error {
	if a.access != datadir.Writes {
		return nil
	}
	home, err := a.home()
	if err != nil {
		return err
	}
	held, err := db.Quarantined(ctx, name)
	if err != nil {
		return err
	}
	words, err := db.Decisions(ctx, name)
	if err != nil {
		return err
	}
	for _, c := range held {
		if words[c.SHA].Word == store.Approved {
			err = hook.Release(string(home), c.SHA)
		} else {
			err = hook.Quarantine(string(home), hook.Guarded{Skill: name, SHA: c.SHA, Reason: c.Reason})
		}
		if err != nil {
			return err
		}
	}
	return nil
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
