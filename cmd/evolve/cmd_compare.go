package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/spf13/cobra"
)

// compareFlags are the choices of one comparison; of runFlags, only those that
// are registered below are used.
type compareFlags struct {
	runFlags
	split    string
	trials   int
	recorded bool
	again    bool
	format   string
}

func newCompareCommand(a *app) *cobra.Command {
	f := &compareFlags{}
	f.Profile = skill.ClaudeCode
	c := &cobra.Command{
		Use:   "compare SKILL [[A] B]",
		Short: "Measure two texts of a skill on the same cases",
		Long: `compare runs two texts of a skill (versions, candidates, live, challenger, or none
for no skill at all) on the same cases and prints each objective with its paired
difference and an interval that holds however often one looks. "~" stands where
the interval holds "no difference". Without names it compares the live text with
the challenger, or with no skill where there is none; with one, the live text with
that. "none" is always A: the difference is then what the skill is worth.

The page of the comparison, with every case and both answers, is kept in the data
folder's reports.

What an earlier comparison of the same two has measured is used again, so that an
interrupted one goes on; --again measures anew.

--format benchmark is skill-creator's benchmark.json. --format junit fails a case
that A solves and B does not, and skips one that neither solves.`,
		Example: "  evolve compare dataviz none\n  evolve compare dataviz v0 v2 --format markdown\n  evolve compare dataviz v0 challenger --recorded",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 3 {
				return problem.Inputf("usage: "+c.UseLine(), "%s needs a skill, and at most two texts of it", c.CommandPath())
			}
			return a.compare(c.Context(), args, f)
		},
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.split, "split", string(eval.Test), "cases to compare on: test (held out), val, train or all")
	fl.BoolVar(&f.recorded, "recorded", false, "spend nothing: use rollouts that are stored for both")
	fl.StringVar(&f.format, "format", "text", "text, json, markdown, benchmark or junit")
	fl.IntVar(&f.trials, "trials", 1, "rollouts of each case in each arm")
	fl.BoolVar(&f.again, "again", false, "measure anew instead of using an earlier comparison of the same two")
	fl.StringVar(&f.Evolve, "evolve", skill.Harness, "harness compares on ordinary cases, description on trigger cases")
	f.who.Register(fl)
	fl.Int64Var(&f.MaxRollouts, "max-rollouts", 120, "agent attempts at most; 0 for no cap")
	fl.Float64Var(&f.MaxCostUSD, "max-cost-usd", 0, "dollars at most, over every call")
	fl.Int64Var(&f.MaxTokens, "max-tokens", 0, "tokens at most, over every call")
	fl.DurationVar(&f.MaxDuration, "max-duration", 0, "time at most, for example 2h")
	fl.IntVar(&f.MaxRetries, "max-retries", 1, "how often a failed attempt may ask again")
	fl.IntVar(&f.Concurrency, "concurrency", 0, "rollouts at a time (default 8; 2 with agents that run tools)")
	fl.Float64Var(&f.PerSecond, "rate", 0, "agent calls a second at most")
	fl.DurationVar(&f.WallClock, "timeout", 5*time.Minute, "wall clock of one rollout")
	fl.Int64Var(&f.Seed, "seed", 0, "seed of the order of the arms, and of which cases a cap affords")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print the forecast and stop")
	fl.BoolVarP(&f.yes, "yes", "y", false, "do not ask before spending")
	backend.ConfirmOverFlag(fl, &f.confirmOver)
	return c
}

// formats are the values of --format.
var formats = []string{"text", "json", "markdown", "benchmark", "junit"}

func (f *compareFlags) check(a *app) error {
	if a.JSON {
		if f.format != "text" && f.format != "json" {
			return problem.Inputf("drop one of them", "--json and --format %s ask for two things", f.format)
		}
		f.format = "json"
	}
	if !contains(formats, f.format) {
		hint := "the formats are " + strings.Join(formats, ", ")
		if near := skill.Nearest(f.format, formats); near != "" {
			hint = "did you mean " + near + "?"
		}
		return problem.Inputf(hint, "unknown format %q", f.format)
	}
	if !contains([]string{"test", "val", "train", "all"}, f.split) {
		return problem.Inputf("the splits are test, val, train and all", "unknown split %q", f.split)
	}
	if f.trials < 1 || f.trials > 100 {
		return problem.Inputf("", "--trials %d is not between 1 and 100", f.trials)
	}
	f.Spec = f.who.Spec()
	return f.runFlags.check()
}

// A comparison is one that may begin.
type comparison struct {
	*compareFlags
	texts *candidate.Texts
	a, b  *candidate.Text
	cases []eval.Case
	out   *report.Comparison
}

func (a *app) compare(ctx context.Context, args []string, f *compareFlags) error {
	if err := f.check(a); err != nil {
		return err
	}
	c, err := a.prepareComparison(ctx, args, f)
	if err != nil {
		return err
	}
	var stopped *eval.BudgetError
	if f.recorded {
		err = c.fromRecords(ctx)
	} else if err = a.measure(ctx, c); errors.As(err, &stopped) {
		// What was measured is shown all the same.
		c.out.Warnings = append(c.out.Warnings, fmt.Sprintf("stopped early: %v", stopped))
		err = nil
	}
	if err != nil || f.dryRun {
		return err
	}
	if err := a.printComparison(c); err != nil {
		return err
	}
	if path, err := a.writePage(comparisonPage(c.out), c.out.HTML); err != nil {
		return err
	} else if f.format == "text" {
		fmt.Fprintf(a.Stdout, "report: %s\n", path)
	}
	if stopped != nil {
		return &quietExit{exitStopped}
	}
	return nil
}

// prepareComparison finds the two texts and the cases.
func (a *app) prepareComparison(ctx context.Context, args []string, f *compareFlags) (*comparison, error) {
	name, at, _ := strings.Cut(args[0], "@")
	names := args[1:]
	if at != "" {
		names = append([]string{at}, names...)
	}
	s, err := a.texts(ctx, name)
	if err != nil {
		return nil, err
	}
	if s.Live == nil {
		return nil, problem.Inputf("install it first: agents are offered its other files too", "%s is not installed any more", name)
	}
	if len(names) == 0 {
		if t, err := s.Challenger(ctx); err != nil {
			return nil, err
		} else if t == nil {
			names = []string{eval.NoSkill}
		}
	}
	old, new, err := s.Pair(ctx, names)
	if err != nil {
		return nil, err
	}
	if new.Doc == nil {
		old, new = new, old
	}
	if old.SHA() == new.SHA() {
		return nil, problem.Inputf("`evolve log "+name+"` lists what there is", "%s and %s are the same text", old.Label, new.Label)
	}
	c := &comparison{compareFlags: f, texts: s, a: old, b: new}
	all, err := s.Store.Cases(ctx, name)
	if err != nil {
		return nil, err
	}
	for _, k := range all {
		if (f.split == "all" || string(k.Split) == f.split) && k.IsTrigger() == (f.Evolve == skill.Description) {
			c.cases = append(c.cases, k)
		}
	}
	if len(c.cases) == 0 {
		return nil, problem.Inputf(fmt.Sprintf("`evolve harvest --skill %s` brings cases, or --split all", name), "%s has no %s cases", name, f.split)
	}
	c.out = &report.Comparison{Skill: name, Split: f.split, MaxRetries: f.MaxRetries,
		A: report.Arm{Label: strings.TrimPrefix(old.Label, name+" "), SHA: old.SHA(), Tokens: tokensOf(old.Doc)},
		B: report.Arm{Label: strings.TrimPrefix(new.Label, name+" "), SHA: new.SHA(), Tokens: tokensOf(new.Doc)}}
	if old.Doc != nil && new.Doc != nil {
		if c.out.Diff, err = report.Between(c.out.A.Label, c.out.B.Label, old.Doc, new.Doc); err != nil {
			return nil, err
		}
	}
	for _, t := range []*candidate.Text{old, new} {
		if f.split != "train" && f.split != "val" && t.Doc != nil && t.Version == nil {
			c.out.Warnings = append(c.out.Warnings, "these are held-out cases: choose no candidate by them, or the gate's proof is worth less")
			break
		}
	}
	return c, nil
}

// fromRecords pairs stored rollouts: both arms measured by one agent, for one
// purpose, on one case. The agent with the most pairs counts; mixing two would
// compare agents.
func (c *comparison) fromRecords(ctx context.Context) error {
	type group struct {
		agent eval.Identity
		arm   string
	}
	sides := map[group]*[2][]*eval.Rollout{}
	var order []group
	for side, t := range []*candidate.Text{c.a, c.b} {
		rs, err := c.texts.Store.Rollouts(ctx, store.RolloutFilter{Candidate: t.SHA()})
		if err != nil {
			return err
		}
		for i := range rs {
			g := group{rs[i].Agent, rs[i].Arm}
			if sides[g] == nil {
				sides[g] = &[2][]*eval.Rollout{}
				order = append(order, g)
			}
			sides[g][side] = append(sides[g][side], &rs[i])
		}
	}
	sort.Slice(order, func(i, j int) bool { return order[i].arm < order[j].arm })
	merged := map[eval.Identity]*[2][]*eval.Rollout{}
	count := map[eval.Identity]int{}
	var best eval.Identity
	for n, g := range order {
		if merged[g.agent] == nil {
			merged[g.agent] = &[2][]*eval.Rollout{}
		}
		for side, rs := range sides[g] {
			for _, r := range rs {
				again := *r // another purpose is another trial
				again.Trial = n<<16 | r.Trial&0xffff
				merged[g.agent][side] = append(merged[g.agent][side], &again)
			}
		}
		pairs, _ := report.Pair(c.cases, sides[g][0], sides[g][1])
		if count[g.agent] += len(pairs); count[g.agent] > count[best] {
			best = g.agent
		}
	}
	if count[best] == 0 {
		return problem.Inputf("drop --recorded to run both arms", "no stored rollouts have %s and %s on the same %s cases", c.a.Label, c.b.Label, c.split)
	}
	if len(count) > 1 {
		c.out.Warnings = append(c.out.Warnings, "several agents have measured these; the one with the most pairs is shown")
	}
	pairs, _ := report.Pair(c.cases, merged[best][0], merged[best][1])
	c.out.Compare(pairs, 0) // a case that only one arm was tried on is not missing
	return nil
}

// nameJudge names the judge where a check asks for one.
func (c *comparison) nameJudge(back *agent.Backends) {
	for _, k := range c.cases {
		for _, check := range k.Checks {
			if check.Type == eval.Judge {
				id := back.Judge.Identity()
				c.out.Judge = id.Backend + "/" + id.Model
				return
			}
		}
	}
}

// cut drops cases until both arms fit the cap, every retry used; it reports
// whether it did. Which ones stay is drawn by the seed.
func (c *comparison) cut() bool {
	each := int64(2 * c.trials * (1 + c.MaxRetries))
	if c.MaxRollouts == 0 || int64(len(c.cases))*each <= c.MaxRollouts {
		return false
	}
	n := max(1, int(c.MaxRollouts/each))
	var kept []eval.Case
	for _, i := range rand.New(rand.NewPCG(uint64(c.Seed), 0x636f6d70)).Perm(len(c.cases))[:n] {
		kept = append(kept, c.cases[i])
	}
	sort.Slice(kept, func(i, j int) bool { return kept[i].ID < kept[j].ID })
	c.cases = kept
	return true
}

// firstTrial numbers the trials: from 0, or with --again behind all there are.
func (c *comparison) firstTrial(ctx context.Context, arm string) (int, error) {
	if !c.again {
		return 0, nil
	}
	rs, err := c.texts.Store.Rollouts(ctx, store.RolloutFilter{Arm: &arm})
	if err != nil {
		return 0, err
	}
	next := 0
	for i := range rs {
		next = max(next, rs[i].Trial+1)
	}
	return next, nil
}

func (c *comparison) interrupted(ctx context.Context, a *app, err error) error {
	const more = "what was measured is saved; the same command goes on"
	if ctx.Err() != nil {
		a.Tell("interrupted; %s", more)
		return &quietExit{exitInterrupted}
	}
	kind, hint := classify(err)
	if hint != "" {
		hint += "; "
	}
	return &problem.Error{Kind: kind, Err: err, Hint: hint + more}
}

func first16(s string) string { return s[:min(16, len(s))] }

func (a *app) printComparison(c *comparison) error {
	var text string
	switch c.format {
	case "json":
		return a.PrintJSON(c.out)
	case "benchmark":
		return a.PrintJSON(c.out.Benchmark(c.texts.Live.Dir, a.Now()))
	case "junit":
		x, err := c.out.JUnit()
		if err != nil {
			return err
		}
		text = string(x)
	case "markdown":
		text = c.out.Markdown()
	default:
		text = c.out.Text(report.Look{Width: term.Columns(a.Stdout), Colour: a.Coloured(a.Stdout)})
	}
	_, err := fmt.Fprint(a.Stdout, text)
	return err
}
