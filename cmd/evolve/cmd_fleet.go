package main

import (
	"github.com/skill-evolve/evolve/cmd/evolve/internal/fleetcmd"
	"github.com/spf13/cobra"
)

func fleetOf(a *global) fleetcmd.Machine {
	return fleetcmd.Machine{Terminal: &a.Terminal, Home: a.home, Config: a.config, Store: a.store, Opener: a.opener}
}

func newFleetCommand(a *global) *cobra.Command { return fleetcmd.New(fleetOf(a)) }

func newWorkerCommand(a *global) *cobra.Command { return fleetcmd.NewWorker(&a.Terminal, a.opener) }
