package main

import (
	"context"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/suggest"
	"github.com/skill-evolve/evolve/store"
	"github.com/spf13/cobra"
)

func newSuggestCommand(a *global) *cobra.Command {
	return suggest.Parts{Parts: correctionsParts(a), Mine: func(ctx context.Context, db *store.Store, name string) error {
		_, err := mineAll(ctx, a, db, name, false)
		return err
	}}.Command()
}
