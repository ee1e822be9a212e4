package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/advice"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/generated"
	"github.com/skill-evolve/evolve/tournament/campaign/generate"
	"github.com/spf13/cobra"
)

// maxGenerated is the largest number of cases that one command writes: with
// more, the generated cases would outweigh the real ones that they are
// derived from.
const maxGenerated = 200

type generateFlags struct {
	backend.Spending
	skill string
	count int
}

func newCasesGenerateCommand(a *global) *cobra.Command {
	f := &generateFlags{}
	c := &cobra.Command{
		Use:   "generate SKILL",
		Short: "Have a model write more cases from real ones, for the search only",
		Long: `A skill with a handful of real uses gives the search little to learn from. A
model (--reflect-agent, --reflect-model) writes cases that vary the real ones:
other people, harder data, near misses. Generated cases train and validate. They
are never in a trial, and the model does not see the real cases that trials are
for. A purged session takes its generated cases with it
(evolve sessions purge).`,
		Example: `  evolve cases generate dataviz -n 20 --model gpt-5-mini
  evolve cases generate dataviz -n 20 --model gpt-5-mini --dry-run`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return casesGenerate(c.Context(), a, f) },
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.skill, "skill", "", "name of the skill")
	fl.IntVarP(&f.count, "count", "n", 20, "how many cases")
	f.Register(fl, "print the forecast and stop")
	return c
}

func (f *generateFlags) check() error {
	switch {
	case f.skill == "":
		return problem.Inputf("for example `evolve cases generate dataviz`; `evolve status` lists the skills", "evolve cases generate needs a skill")
	case f.count < 1 || f.count > maxGenerated:
		return problem.Inputf("for example -n 20", "-n %d is not between 1 and %d", f.count, maxGenerated)
	}
	return f.Check()
}

// A generateReport is what `evolve cases generate --json` prints: schema 1.
type generateReport struct {
	Schema int                `json:"schema"`
	Skill  string             `json:"skill"`
	Wanted int                `json:"wanted"`
	Stats  generated.Stats    `json:"stats"`
	Added  []listedCase       `json:"added"`
	Left   map[eval.Split]int `json:"splits"` // all cases of the skill
	Spent  eval.Spent         `json:"spent"`
	Stop   string             `json:"stop,omitempty"` // why there are fewer than wanted
}

func casesGenerate(ctx context.Context, a *global, f *generateFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	runner, err := a.runner(&runFlags{who: f.Who, flags: f.Flags})
	if err != nil {
		return err
	}
	g, err := generate.Prepare(ctx, runner, generate.Options{Spec: f.Who.Spec(), Skill: f.skill, N: f.count, WallClock: f.WallClock})
	defer func() { g.Close() }() // with an error too
	if err != nil {
		return err
	}
	fc := g.Forecast
	a.Say("%s", fc)
	if f.DryRun {
		if a.JSON {
			return a.PrintJSON(fc)
		}
		return nil
	}
	if f.Purse, err = runner.Purse(ctx, f.Who.Spec(), f.Caps, false); err != nil {
		return err
	}
	if err := afford(a, &f.Spending, fc.CostUSD, fc.Tokens, "Spend about %s?", "lower -n, or use --yes"); err != nil {
		return err
	}
	made, err := g.Run(ctx, f.Purse.Budget)
	if made == nil {
		return err
	}
	r := &generateReport{Schema: 1, Skill: f.skill, Wanted: f.count, Stats: made.Stats, Added: []listedCase{}, Left: made.Splits, Spent: made.Spent, Stop: made.Stop}
	for i := range made.Added {
		r.Added = append(r.Added, listed(&made.Added[i]))
	}
	a.Warn(made.Warnings)
	if e := printGenerated(a, r); e != nil || err == nil {
		return e
	}
	if ctx.Err() != nil {
		a.Say("interrupted; what was written is kept")
		return &quietExit{exitInterrupted}
	}
	kind, _ := advice.Cause(err)
	return &problem.Error{Kind: kind, Err: err, Hint: "what was written is kept; the same command continues"}
}

func printGenerated(a *global, r *generateReport) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s written for %s in %s", plain.Counted(len(r.Added), "case"), r.Skill, plain.Counted(r.Stats.Calls, "call"))
	if n := r.Stats.Alike + r.Stats.Invalid + r.Stats.Secrets; n > 0 {
		fmt.Fprintf(&b, "; left out: %d too much like others, %d unfit, %d with a secret", r.Stats.Alike, r.Stats.Invalid, r.Stats.Secrets)
	}
	b.WriteByte('\n')
	for _, why := range sortedKeys(r.Stats.Unusable) {
		fmt.Fprintf(&b, "%s gave no case: the reply was %s\n", plain.Counted(r.Stats.Unusable[why], "call"), why)
	}
	if len(r.Added) < r.Wanted && r.Stop != "" {
		fmt.Fprintf(&b, "fewer than the %d wanted: %s\n", r.Wanted, oneLine(r.Stop))
	}
	fmt.Fprintf(&b, "%s: now %d train, %d val, %d test (generated cases are never in a trial)\n", r.Skill, r.Left[eval.Train], r.Left[eval.Val], r.Left[eval.Test])
	return a.Print(r, b.String())
}
