package main

import (
	"context"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/checking"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newCheckCommand(a *global) *cobra.Command {
	f := &runFlags{checks: true, Config: campaign.Config{Schema: 1, Evolve: skill.Harness, Seed: -1, Profile: check.ClaudeCode}}
	return checking.Parts{Terminal: &a.Terminal, Store: a.store, Layout: a.layout, Outbox: a.outbox,
		Flags: func(fl *pflag.FlagSet) {
			f.who.Register(fl)
			f.who.RegisterSetup(fl)
			f.registerSpending(fl)
			fl.StringSliceVar(&f.Objectives, "objectives", nil, "what is looked at: quality,latency,cost,retries (default all four, in a trial that goes on as it began)")
			fl.BoolVar(&f.NoHarvest, "no-harvest", false, "use the stored cases only")
			fl.BoolVar(&f.harvest.headless, "include-headless", false, "count sessions that a program drove")
		},
		Runner: func(name, typed string) (*campaign.Runner, error) {
			f.Skill, f.Typed, f.Spec = name, typed, f.who.Spec()
			if err := f.check(); err != nil {
				return nil, err
			}
			return a.runner(f)
		},
		Run: func(ctx context.Context, text []byte) error {
			f.Given = text
			return runSkill(ctx, a, f)
		}}.Command()
}
