package main

import (
	"context"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/resolve"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/runs"
	"github.com/skill-evolve/evolve/tournament/status"
	"github.com/spf13/cobra"
)

func newRunsCommand(a *global) *cobra.Command {
	return runs.Command(&a.Terminal, func(ctx context.Context) (*status.Reader, error) {
		db, err := a.store(ctx)
		if err != nil {
			return nil, err
		}
		return a.reader(db)
	})
}

func newResolveCommand(a *global) *cobra.Command {
	return resolve.Parts{Terminal: &a.Terminal, Layout: a.layout, Unknown: &quietExit{exitUsage}}.Command()
}
