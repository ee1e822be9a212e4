package main

import (
	"context"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/sleep/work"
)

// nightWorker does the steps of a night, with these flags.
func nightWorker(ctx context.Context, a *global, db *store.Store, f *runFlags) (*work.Worker, error) {
	f.night = true
	r, err := a.runner(f)
	if err != nil {
		return nil, err
	}
	r.Control.Ask = nil // a night asks nobody
	k, err := a.locks()
	if err != nil {
		return nil, err
	}
	o, err := a.outbox()
	if err != nil {
		return nil, err
	}
	g, err := a.ingester(db)
	if err != nil {
		return nil, err
	}
	s := &work.Worker{Runner: r, Store: db, Config: f.Config, Ingester: g, Outbox: o, Locks: k, Demo: a.isDemo(), UsesTools: agent.UsesTools,
		Page: func(ctx context.Context, run string) (string, error) { return writeReport(ctx, a, db, run) }}
	return s, s.Hold(ctx)
}

// forecastTimer forecasts the cost of each night of a timer from its flags and
// from earlier runs.
func forecastTimer(ctx context.Context, a *global, f runFlags) (string, error) {
	db, err := a.existingStore(ctx)
	if err != nil {
		return "", err
	}
	s, err := nightWorker(ctx, a, db, &f)
	if err != nil {
		return "", err
	}
	defer s.Close()
	return s.ForecastEach(ctx)
}
