package main

import (
	"context"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/projects"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/spf13/cobra"
)

// harvestFlags select the sessions that are read.
type harvestFlags struct {
	source     string
	repo       string
	since      string
	exclude    []string
	headless   bool
	choice     projects.Choice
	transcript string // the only one that is read, "" for all
}

const excludeHelp = "folders whose sessions are not read (glob), and no session whose folders are unknown"

func newProjectsCommand(a *global) *cobra.Command {
	c := projects.Command(func() *projects.Desk { return a.projects(harvestFlags{}) }, noArgs)
	parent(c)
	return c
}

// projects decides which sessions may be read of those that flags ask for.
func (a *global) projects(f harvestFlags) *projects.Desk {
	return &projects.Desk{Terminal: &a.Terminal, Home: a.home, Demo: a.isDemo(), Policy: a.machine.policy, Typist: a.machine.typist, Store: a.existingStore, Config: a.config, Choice: f.choice,
		Sources: func(ctx context.Context, o func(*backend.SourceOptions)) ([]ingest.Source, error) {
			return openSources(ctx, a, f, o)
		}}
}

// openSources opens the session readers that flags ask for; change has the last word.
func openSources(ctx context.Context, a *global, f harvestFlags, change func(*backend.SourceOptions)) ([]ingest.Source, error) {
	if _, err := a.config(); err != nil { // it says what is redacted
		return nil, err
	}
	o := backend.SourceOptions{Name: f.source, Transcript: f.transcript, Repo: f.repo, Exclude: f.exclude, Demo: a.isDemo(), Within: a.demoFolder(), Layout: a.layout(), Redactor: a.redactor(), LeftOut: backend.SayLeftOut(a.Say)}
	if f.since != "" {
		d, err := backend.ParseAge(f.since)
		if err != nil {
			return nil, problem.Inputf("for example --since 30d, --since 12h", "--since %q is no age", f.since)
		}
		o.Since = a.Now().Add(-d)
	}
	change(&o)
	return backend.Sources(ctx, o)
}
