package main

import (
	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/corrections"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/spf13/cobra"
)

func newCorrectionsCommand(a *global) *cobra.Command { return correctionsParts(a).Command() }

func correctionsParts(a *global) corrections.Parts {
	return corrections.Parts{Terminal: &a.Terminal, Store: a.store, Layout: a.layout,
		Runner: func(who backend.Flags) (*campaign.Runner, error) { return a.runner(&runFlags{who: who}) },
		Approve: func(yes bool, over float64, usd *float64) error {
			return approveSpending(a, yes, over, usd, nil, "Spend about %s on reading?", "nothing was spent", "use --yes to spend it")
		}}
}
