package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/spf13/cobra"
)

// maxGenerated is how many cases one command writes at most: beyond that the
// made-up ones would say more than the real ones that they come from.
const maxGenerated = 200

type generateFlags struct {
	agent.Spec
	who         backend.Flags
	skill       string
	n           int
	maxCostUSD  float64
	maxTokens   int64
	maxDuration time.Duration
	timeout     time.Duration
	confirmOver float64
	dryRun, yes bool
}

func newCasesGenerateCommand(a *app) *cobra.Command {
	f := &generateFlags{}
	c := &cobra.Command{
		Use:   "generate --skill NAME",
		Short: "Have a model write more cases from the real ones; for the search only",
		Long: `A skill with a handful of real uses gives the search little to learn from. A model
(--reflect-agent, --reflect-model) writes cases that vary the real ones: other
people, harder data, near misses. They train and validate. They are never held
out and never count as proof, and the real cases that are held out are not shown
to the model. What a generated case came out of is forgotten together with it
(evolve sessions purge).`,
		Example: `  evolve cases generate --skill dataviz -n 20 --model gpt-5-mini
  evolve cases generate --skill dataviz -n 20 --model gpt-5-mini --dry-run`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.casesGenerate(c.Context(), f) },
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.skill, "skill", "", "name of the skill")
	fl.IntVarP(&f.n, "count", "n", 20, "how many cases")
	f.who.Register(fl)
	fl.Float64Var(&f.maxCostUSD, "max-cost-usd", 0, "dollars at most")
	fl.Int64Var(&f.maxTokens, "max-tokens", 0, "tokens at most")
	fl.DurationVar(&f.maxDuration, "max-duration", 0, "time at most, for example 10m")
	fl.DurationVar(&f.timeout, "timeout", 5*time.Minute, "wall clock of one call")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print the forecast and stop")
	fl.BoolVarP(&f.yes, "yes", "y", false, "do not ask before spending")
	backend.ConfirmOverFlag(fl, &f.confirmOver)
	return c
}

func (f *generateFlags) check() error {
	f.Spec = f.who.Spec()
	switch {
	case f.skill == "":
		return problem.Inputf("for example `evolve cases generate --skill dataviz`; `evolve status` lists the skills", "cases are generated for a skill: --skill NAME")
	case f.n < 1 || f.n > maxGenerated:
		return problem.Inputf("for example -n 20", "-n %d is not between 1 and %d", f.n, maxGenerated)
	case !sensible(f.maxCostUSD) || f.maxTokens < 0 || f.maxDuration < 0:
		return problem.Inputf("0 means no cap", "a cap cannot be negative")
	}
	return nil
}

// sensible reports whether x is a number, and not negative.
func sensible(x float64) bool { return x >= 0 && !math.IsInf(x, 0) }

// A generateForecast is what writing cases may take, said before anything is
// spent.
type generateForecast struct {
	Schema  int      `json:"schema"`
	Skill   string   `json:"skill"`
	Model   string   `json:"model"`
	Wanted  int      `json:"wanted"`
	Basis   int      `json:"basis"` // real cases that may be shown
	Calls   int      `json:"calls"`
	Most    int      `json:"max_calls"`
	Tokens  int64    `json:"tokens"` // estimated, of Calls
	CostUSD *float64 `json:"cost_usd"`
}

// What one call of the generator takes: the instruction and the reply; what it
// shows comes on top.
const (
	generateInstruction = 800
	generateReply       = 1800
)

func (f *generateFlags) forecast(cases []eval.Case) *generateForecast {
	fc := &generateForecast{Schema: 1, Skill: f.skill, Model: f.ReflectAgent + "/" + f.ReflectModel, Wanted: f.n}
	if f.ReflectAgent == "simulated" {
		fc.Model = "the simulated model"
	}
	shown := 0
	for i := range cases {
		if c := &cases[i]; !c.Generated() && (c.Split == eval.Train || c.Split == eval.Val) {
			fc.Basis++
			shown += skill.Tokens(c.Prompt) + 120*len(c.Checks)
		}
	}
	fc.Calls, fc.Most = harvest.CallsFor(f.n)
	in := int64(fc.Calls * (generateInstruction + 4*shown/max(1, fc.Basis) + 20*f.n))
	out := int64(fc.Calls * generateReply)
	fc.Tokens = in + out
	switch {
	case f.ReflectAgent == "simulated":
		fc.CostUSD = new(float64)
	default:
		fc.CostUSD = f.Price(f.ReflectModel).USD(&eval.Usage{Input: in, Output: out})
	}
	return fc
}

// String is the forecast in one line.
func (fc *generateForecast) String() string {
	cost := "cost unknown without --price-in and --price-out"
	switch {
	case fc.CostUSD != nil && fc.Model == "the simulated model":
		cost = eval.FreeSimulated
	case fc.CostUSD != nil:
		cost = "about " + eval.FormatUSD(*fc.CostUSD)
	}
	return fmt.Sprintf("forecast: %s of %s from %s by %s, %s (%d at most), about %s tokens, %s", plain.Counted(fc.Wanted, "case"), fc.Skill,
		plain.Counted(fc.Basis, "real one"), fc.Model, plain.Counted(fc.Calls, "call"), fc.Most, plain.Thousands(fc.Tokens), cost)
}

// A generateReport is what `evolve cases generate --json` prints: schema 1.
type generateReport struct {
	Schema int                   `json:"schema"`
	Skill  string                `json:"skill"`
	Wanted int                   `json:"wanted"`
	Stats  harvest.GenerateStats `json:"stats"`
	Added  []listedCase          `json:"added"`
	Left   map[eval.Split]int    `json:"splits"` // all cases of the skill
	Spent  eval.Spent            `json:"spent"`
	Stop   string                `json:"stop,omitempty"` // why there are fewer than wanted
}

func (a *app) casesGenerate(ctx context.Context, f *generateFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	live, err := a.skill(f.skill)
	if err != nil {
		return err
	}
	back, err := a.opener(f.who.NoWait).Backends(ctx, &f.Spec)
	if err != nil {
		return err
	}
	g, err := a.cases(ctx)
	if err != nil {
		return err
	}
	cases, err := g.Cases(ctx, f.skill, "")
	if err != nil {
		return err
	}
	fc := f.forecast(cases)
	if fc.Basis == 0 {
		return noBasis(f.skill)
	}
	a.Say("%s", fc)
	if f.dryRun {
		if a.JSON {
			return a.PrintJSON(fc)
		}
		return nil
	}
	if fc.CostUSD != nil && *fc.CostUSD > a.confirmOver(f.confirmOver) && !f.yes && term.IsTerminal(a.Stdin) {
		ok, err := a.Confirm(fmt.Sprintf("Spend about %s?", eval.FormatUSD(*fc.CostUSD)))
		if err != nil {
			return err
		}
		if !ok {
			return &problem.Error{Kind: problem.Stopped, Err: errors.New("nothing was spent"), Hint: "lower -n, or say --yes"}
		}
	}
	if err := back.Ping(ctx); err != nil {
		return err
	}
	if g.Store, err = a.store(ctx); err != nil {
		return err
	}
	budget := eval.NewBudget(eval.Caps{CostUSD: f.maxCostUSD, Tokens: f.maxTokens, Duration: f.maxDuration}, a.Now)
	f.SetPrices(budget)
	model := &eval.Metered{Model: back.Mutator, By: eval.ByMiner, Budget: budget, Redactor: a.redactor(), WallClock: f.timeout}
	made, stats, err := harvest.Generate(ctx, f.skill, f.n, harvest.Generator{Model: model, Redactor: a.redactor(), Now: a.Now, Existing: cases,
		Description: live.Doc.Description()})
	if errors.Is(err, harvest.ErrNoBasis) {
		return noBasis(f.skill)
	}
	// What was paid for is kept, even where a cap or a signal ended it.
	if e := g.SaveCases(context.WithoutCancel(ctx), f.skill, made); e != nil {
		return e
	}
	all, e := g.Store.Cases(context.WithoutCancel(ctx), f.skill)
	if e != nil {
		return e
	}
	r := &generateReport{Schema: 1, Skill: f.skill, Wanted: f.n, Stats: stats, Added: []listedCase{}, Left: ingest.SplitCounts(all), Spent: budget.Spent()}
	for i := range all {
		if slices.ContainsFunc(made, func(c eval.Case) bool { return c.ID == all[i].ID }) {
			r.Added = append(r.Added, listed(&all[i]))
		}
	}
	switch {
	case err != nil:
		r.Stop = err.Error()
	case len(r.Added) < f.n:
		r.Stop = "the model's replies brought nothing more"
	}
	for _, w := range budget.Warnings() {
		fmt.Fprintf(a.Stderr, "warning: %s\n", w)
	}
	if e := a.printGenerated(r); e != nil || err == nil {
		return e
	}
	if ctx.Err() != nil {
		a.Say("interrupted; what was written is kept")
		return &quietExit{exitInterrupted}
	}
	kind, _ := classify(err)
	return &problem.Error{Kind: kind, Err: err, Hint: "what was written is kept; the same command goes on from there"}
}

func noBasis(name string) error {
	return problem.Inputf("use the skill and `evolve harvest`, or bring some with `evolve cases import FILE`",
		"%s has no real case for training or validation to write others from", name)
}

func (a *app) printGenerated(r *generateReport) error {
	if a.JSON {
		return a.PrintJSON(r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s written for %s in %s", plain.Counted(len(r.Added), "case"), r.Skill, plain.Counted(r.Stats.Calls, "call"))
	if n := r.Stats.Alike + r.Stats.Invalid + r.Stats.Secrets; n > 0 {
		fmt.Fprintf(&b, "; left out: %d too much like others, %d unfit, %d with a secret", r.Stats.Alike, r.Stats.Invalid, r.Stats.Secrets)
	}
	b.WriteByte('\n')
	for _, why := range sortedKeys(r.Stats.Unusable) {
		fmt.Fprintf(&b, "%s brought nothing: the reply was %s\n", plain.Counted(r.Stats.Unusable[why], "call"), why)
	}
	if len(r.Added) < r.Wanted && r.Stop != "" {
		fmt.Fprintf(&b, "fewer than the %d wanted: %s\n", r.Wanted, oneLine(r.Stop))
	}
	fmt.Fprintf(&b, "%s: now %d train, %d val, %d test (generated cases are never held out)\n", r.Skill, r.Left[eval.Train], r.Left[eval.Val], r.Left[eval.Test])
	_, err := fmt.Fprint(a.Stdout, a.Folded(b.String()))
	return err
}
