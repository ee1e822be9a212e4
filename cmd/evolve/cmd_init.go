package main

import (
	"context"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/projects"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/start"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/timer"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/store"
	"github.com/spf13/cobra"
)

func newInitCommand(a *global) *cobra.Command {
	return start.Parts{Terminal: &a.Terminal, Home: a.home, Layout: a.layout,
		Opener: func() *backend.Opener { return a.opener(false) },
		Desk:   func() *projects.Desk { return a.projects(harvestFlags{}) },
		Timer:  func(ctx context.Context) (*timer.Timer, error) { return timersOf(a).Installed(ctx) },
		Install: func(ctx context.Context, at string, night []string) error {
			a.conf = nil // it was written
			return sleepInstall(ctx, a, at, "", night, false, true, false)
		},
		Harvest: func(ctx context.Context) (*store.Store, []ingest.SkillCases, error) {
			a.conf = nil
			db, err := a.store(ctx)
			if err != nil {
				return nil, nil, err
			}
			if _, err := harvestSessions(ctx, a, db, harvestFlags{}); err != nil {
				return nil, nil, err
			}
			reg, err := ingest.Registry(ctx, a.layout(), db)
			if err != nil {
				return nil, nil, err
			}
			if err := recordAll(ctx, a, db, reg, ""); err != nil {
				return nil, nil, err
			}
			skills, err := mineAll(ctx, a, db, "", false)
			return db, skills, err
		}}.Command()
}
