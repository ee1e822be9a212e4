package main

import (
	"context"

	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/spf13/pflag"
)

// forecastFor is what a run of a skill with the owner's settings would do and cost, on
// the sessions harvested so far. a.access says that it only tries.
func forecastFor(ctx context.Context, a *global, name string) (*campaign.Forecast, error) {
	f := &runFlags{Config: campaign.Config{Schema: 1}}
	f.register(pflag.NewFlagSet("run", pflag.ContinueOnError))
	f.Skill, f.DryRun, f.NoHarvest, f.Spec = name, true, true, f.who.Spec()
	c, err := prepareRun(ctx, a, f)
	defer func() { c.Close() }() // with an error too
	if err != nil {
		return nil, err
	}
	return c.Forecast(ctx)
}
