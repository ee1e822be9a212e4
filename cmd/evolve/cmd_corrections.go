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
		Runner: func(f *backend.Spending) (*campaign.Runner, error) {
			return a.runner(&runFlags{who: f.Who, flags: f.Flags})
		},
		Approve: func(f *backend.Spending, usd *float64, tokens int64, question string) error {
			return afford(a, f, usd, tokens, question, "use --yes to spend it")
		}}
}
