package main

import (
	"context"

	"github.com/skill-evolve/evolve/store"
)

// writeReport renders a run's report into the data folder and returns its path.
func (a *app) writeReport(ctx context.Context, db *store.Store, run string) (string, error) {
	return "", nil
}
