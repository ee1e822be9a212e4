package main

import (
	"context"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/suggest"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/spf13/cobra"
)

func newSuggestCommand(a *global) *cobra.Command {
	return suggest.Parts{Terminal: &a.Terminal, Store: a.store, Layout: a.layout,
		Runner: func(who backend.Flags) (*campaign.Runner, error) { return a.runner(&runFlags{who: who}) },
		Approve: func(yes bool, over float64, usd *float64, question string) error {
			return approveSpending(a, yes, over, usd, nil, question, "nothing was spent", "use --yes to spend it")
		},
		Reading: correctionsParts(a),
		Mine: func(ctx context.Context, db *store.Store, name string) error {
			_, err := mineAll(ctx, a, db, name, false)
			return err
		}}.Command()
}
