package main

import (
	"context"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/ending"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/harvest/hook/detach"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/report"
)

// ingester writes sessions and cases to the store.
func (a *global) ingester(db *store.Store) (*ingest.Ingester, error) {
	home, err := a.home()
	sandbox := ""
	if c, err := a.config(); err == nil { // who replays is told of a bad one
		sandbox = c.Sandbox
	}
	return &ingest.Ingester{Store: db, Layout: a.layout(), Dir: home, Access: a.access, Now: a.Now, Redactor: a.redactor(), Find: agent.Find(sandbox)}, err
}

// casesOf reads and changes cases; its store is nil if there is none yet.
func casesOf(ctx context.Context, a *global) (*ingest.Ingester, error) {
	db, err := a.existingStore(ctx)
	if err != nil {
		return nil, err
	}
	return a.ingester(db)
}

// harvestSessions reads what is new in the sessions that flags ask for and stores it.
func harvestSessions(ctx context.Context, a *global, db *store.Store, f harvestFlags) (*ingest.Report, error) {
	desk := a.projects(f)
	gate, err := desk.Gate(ctx)
	if err != nil {
		return nil, err
	}
	level, again, err := desk.Moments(ctx, db)
	if err != nil {
		return nil, err
	}
	sources, err := openSources(ctx, a, f, func(o *backend.SourceOptions) {
		o.Allowed, o.MayRead, o.Moments, o.Known = gate.Allowed, gate.MayRead, level, ingest.Archive{DB: db}
		if level != work.All && !again {
			o.Earlier = ingest.EarlierActs(ctx, db, level)
		}
	})
	if err != nil {
		return nil, err
	}
	g, err := a.ingester(db)
	if err != nil {
		return nil, err
	}
	g.Gate, g.Again, g.Transcript = gate, again, f.transcript
	bar := a.Watch(report.Task{Phase: "harvest", Unit: "sessions"})
	defer bar.Done()
	r, err := g.Harvest(ctx, sources, f.headless, bar.Count)
	if err == nil && r.NotRead > 0 {
		a.Say("harvest: %s: `evolve projects list`", r.Waits())
	}
	return r, err
}

// harvestEnded reads the sessions that have ended, in the process that a hook starts, and
// keeps out of the way of those that somebody waits for.
func harvestEnded(ctx context.Context, a *global) error {
	if err := detach.Yield(); err != nil {
		a.Say("harvest: %v", err)
	}
	return (&ending.Desk{Terminal: &a.Terminal, Home: a.home, Allowed: a.projects(harvestFlags{}).Notes, Harvest: func(ctx context.Context, transcript string) error {
		db, err := a.store(ctx)
		if err == nil {
			_, err = harvestSessions(ctx, a, db, harvestFlags{source: "claude", transcript: transcript})
		}
		return err
	}}).Run(ctx)
}
