package main

import (
	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/privacy"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/spf13/cobra"
)

func newPrivacyCommand(a *global) *cobra.Command {
	return privacy.Parts{Terminal: &a.Terminal, Store: a.store, Keeper: func() privacy.Keeper { return a.projects(harvestFlags{}) }, Opener: func() *backend.Opener { return a.opener(false) },
		Control: func() *outgoing.Control { return control(a) }}.Command()
}
