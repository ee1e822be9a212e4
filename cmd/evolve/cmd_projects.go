package main

import (
	"github.com/skill-evolve/evolve/cmd/evolve/internal/projects"
	"github.com/spf13/cobra"
)

func newProjectsCommand(a *global) *cobra.Command {
	c := projects.Command(func() *projects.Desk { return a.projects(harvestFlags{}) }, noArgs)
	parent(c)
	return c
}
