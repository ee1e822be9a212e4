package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/advice"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/usage"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/page"
	"github.com/skill-evolve/evolve/tournament/status"
	"github.com/spf13/cobra"
)

// compareFlags are the choices of one comparison. It uses only those of
// runFlags that are registered below.
type compareFlags struct {
	runFlags
	campaign.CompareOptions
	recorded bool
	format   string
}

func newCompareCommand(a *global) *cobra.Command {
	f := &compareFlags{}
	f.Profile = check.ClaudeCode
	c := &cobra.Command{
		Use:   "compare SKILL [[A] B]",
		Short: "Measure two texts of a skill on the same cases",
		Long: `compare runs two texts of a skill on the same cases: versions, candidates, live,
challenger (the new text that waits), or none for no skill at all. It prints each objective with its
paired difference and an interval that stays valid however often you look. "~"
means that the interval includes "no difference". Without names it compares the
live text with the new text that waits, or with no skill if none does; with one name, the live text with that one. "none" is always A: the difference is
then what the skill is worth.

The page of the comparison, with every case and both answers, is kept in the
reports of the data folder.

Rollouts of an earlier comparison of the same two texts are used again, so an
interrupted comparison continues; --again measures anew.

--format benchmark prints skill-creator's benchmark.json. --format junit fails a
case that A solves and B does not, and skips a case that neither solves.`,
		Example: "  evolve compare dataviz none\n  evolve compare dataviz v0 v2 --format markdown\n  evolve compare dataviz v0 challenger --recorded",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 3 {
				return problem.Inputf("usage: "+c.UseLine(), "%s needs a skill, and at most two texts of it", c.CommandPath())
			}
			return runCompare(c.Context(), a, args, f)
		},
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.Split, "split", string(eval.Test), "cases to compare on: test (the search never saw them), val, train or all")
	fl.BoolVar(&f.recorded, "recorded", false, "spend nothing: use rollouts that are stored for both")
	fl.StringVar(&f.format, "format", "text", "text, json, markdown, benchmark or junit")
	fl.IntVar(&f.Trials, "trials", 1, "rollouts of each case with each text")
	fl.BoolVar(&f.Again, "again", false, "measure anew instead of using an earlier comparison of the same two")
	fl.StringVar(&f.Evolve, "evolve", skill.Harness, "harness compares on ordinary cases, description on trigger cases")
	f.who.Register(fl)
	f.who.RegisterSetup(fl)
	f.registerSpending(fl)
	fl.Int64Var(&f.Seed, "seed", 0, "seed of the order of the texts, and of which cases a cap affords")
	return c
}

// formats are the values of --format.
var formats = []string{"text", "json", "markdown", "benchmark", "junit"}

func (f *compareFlags) check(a *global) error {
	if a.JSON {
		if f.format != "text" && f.format != "json" {
			return problem.Inputf("drop one of them", "--json and --format %s ask for two things", f.format)
		}
		f.format = "json"
	}
	if !slices.Contains(formats, f.format) {
		return usage.UnknownWord("format", f.format, formats)
	}
	if !slices.Contains([]string{"test", "val", "train", "all"}, f.Split) {
		return problem.Inputf("the splits are test, val, train and all", "unknown split %q", f.Split)
	}
	if f.Trials < 1 || f.Trials > 100 {
		return problem.Inputf("for example --trials 3", "--trials %d is not between 1 and 100", f.Trials)
	}
	f.Spec = f.who.Spec()
	return f.runFlags.check()
}

func runCompare(ctx context.Context, a *global, args []string, f *compareFlags) error {
	if err := f.check(a); err != nil {
		return err
	}
	name, at := subject.Cut(args[0])
	names := args[1:]
	if at != "" {
		names = append([]string{at}, names...)
	}
	s, err := openTexts(ctx, a, name)
	if err != nil {
		return err
	}
	r, err := a.runner(&f.runFlags)
	if err != nil {
		return err
	}
	c, err := r.Compare(ctx, s, names, f.Config, f.CompareOptions)
	if err != nil {
		return err
	}
	defer c.Close()
	var stopped *eval.BudgetError
	if f.recorded {
		err = c.FromRecords(ctx)
	} else if err = measureComparison(ctx, a, f, c); errors.As(err, &stopped) {
		// Show what was measured before the error.
		c.Report.Warnings = append(c.Report.Warnings, fmt.Sprintf("stopped early: %v", stopped))
		err = nil
	}
	if err != nil || f.DryRun {
		return err
	}
	if err := printComparison(a, f, c.Report, s.Live.Dir); err != nil {
		return err
	}
	if path, err := writePage(a, comparisonPage(c.Report), page.Comparison(c.Report)); err != nil {
		return err
	} else if f.format == "text" {
		fmt.Fprintf(a.Stdout, "report: %s\n", path)
	}
	if stopped != nil {
		return &quietExit{exitStopped}
	}
	return nil
}

// measureComparison runs both arms. With a *eval.BudgetError it also returns
// what was measured so far.
func measureComparison(ctx context.Context, a *global, f *compareFlags, c *campaign.Comparison) error {
	fc, err := c.Plan(ctx)
	if err != nil {
		return err
	}
	a.Say("%s", fc)
	if f.DryRun {
		if a.JSON {
			return a.PrintJSON(fc)
		}
		return nil
	}
	over := c.Beyond(fc)
	if err := approveSpending(a, f.yes, f.confirmOver, fc.CostUSD, over, "Spend up to about %s?", "nothing was spent", "lower --max-rollouts, or use --yes"); err != nil {
		return err
	}
	c.Allow(over)
	err = c.Measure(ctx)
	if ended := (*campaign.StoppedError)(nil); errors.As(err, &ended) {
		return comparisonInterrupted(ctx, a, ended.Err)
	}
	if s := c.Report.Spent; s != nil {
		a.Say("spent: %s", status.Spent(*s))
	}
	return err
}

func comparisonInterrupted(ctx context.Context, a *global, err error) error {
	const more = "what was measured is saved; the same command continues"
	if ctx.Err() != nil {
		a.Tell("interrupted; %s", more)
		return &quietExit{exitInterrupted}
	}
	kind, hint := advice.Cause(err)
	if hint != "" {
		hint += "; "
	}
	return &problem.Error{Kind: kind, Err: err, Hint: hint + more}
}

func printComparison(a *global, f *compareFlags, c *report.Comparison, dir string) error {
	var text string
	switch f.format {
	case "json":
		return a.PrintJSON(c)
	case "benchmark":
		return a.PrintJSON(c.Benchmark(dir, a.Now()))
	case "junit":
		x, err := c.JUnit()
		if err != nil {
			return err
		}
		text = string(x)
	case "markdown":
		text = c.Markdown()
	default:
		text = c.Text(report.Look{Width: term.Columns(a.Stdout), Colour: a.Coloured(a.Stdout)})
	}
	return a.Show(text)
}
