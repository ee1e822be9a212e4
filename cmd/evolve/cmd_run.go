package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/advice"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/checking"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/hookrun"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/search"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// runFlags are the flags of one run: its configuration, and the settings of
// this process.
type runFlags struct {
	campaign.Config
	campaign.Options
	who         backend.Flags // as they are typed
	harvest     harvestFlags
	promote     bool
	to          []string // promote's targets
	yes         bool
	resume      string
	checks      bool // a given text, without a search
	confirmOver float64
	flags       *pflag.FlagSet
	night       bool
}

func newRunCommand(a *global) *cobra.Command {
	f, h := &runFlags{Config: campaign.Config{Schema: 1}}, &hookrun.Flags{}
	c := &cobra.Command{
		Use:     "run SKILL",
		Short:   "Search for a better text of a skill, and try it on requests it never saw",
		Example: "  evolve run dataviz --dry-run\n  evolve run dataviz --max-cost-usd 2\n  evolve run dataviz --agent claude --promote\n  evolve run AGENTS.md\n  evolve run --resume 20260921-031702-5e1f0a",
		Long: `run reads your new sessions, searches for a better text of the skill, and tries what
it finds on cases that the search never saw. SKILL may also be a file of standing
instructions, for example AGENTS.md, or with --hook a hook, whose cases are the calls
that your sessions recorded: they are replayed in the sandbox, and no agent is asked.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("skill") && c.Flags().Changed("file") {
				return problem.Inputf("drop one of them", "a run is of one text: --skill and --file are two")
			}
			if name, ok, err := h.Names(c, a.layout(), f.Skill); err != nil || ok {
				if err != nil {
					return err
				}
				return runOfHook(c, a, f, h, name)
			}
			if f.Skill == "" && f.resume == "" {
				return problem.Inputf("for example `evolve run dataviz`; `evolve status` lists the skills", "a run needs a skill, a file of instructions or --resume RUN")
			}
			if f.resume != "" {
				if err := resumable(c); err != nil {
					return err
				}
			} else if err := configured(a, c.Flags()); err != nil {
				return err
			}
			c.Flags().Visit(func(fl *flagT) {
				if !slices.Contains([]string{"no-wait", "yes", "json", "quiet"}, fl.Name) {
					f.Typed += fmt.Sprintf("--%s=%s ", fl.Name, fl.Value)
				}
			})
			f.Spec = f.who.Spec()
			return runSkill(c.Context(), a, f)
		},
	}
	f.register(c.Flags())
	h.Register(c.Flags())
	return c
}

// runOfHook is a run of a hook, with the flags of one of a skill that it shares.
func runOfHook(c *cobra.Command, a *global, f *runFlags, h *hookrun.Flags, name string) error {
	if err := configured(a, c.Flags()); err != nil {
		return err
	}
	h.Spending = backend.Spending{Who: f.who, Flags: c.Flags(), Caps: eval.Caps{CostUSD: f.MaxCostUSD, Tokens: f.MaxTokens, Duration: f.MaxDuration},
		WallClock: f.WallClock, Over: f.confirmOver, DryRun: f.DryRun, Yes: f.yes}
	h.Hook, h.Since, h.Seed, h.Anew = name, cmp.Or(f.harvest.since, "90d"), f.Seed, f.Anew
	return hookrun.Parts{Parts: correctionsParts(a), Tests: hookTests(a)}.Run(c.Context(), h)
}

// register registers the flags of a run.
func (f *runFlags) register(fl *pflag.FlagSet) {
	fl.SortFlags = false
	fl.StringVar(&f.Skill, "skill", "", "name of the skill")
	fl.StringVar(&f.Skill, "file", "", "instead of a skill: a file of standing instructions, for example AGENTS.md")
	fl.StringVar(&f.Evolve, "evolve", skill.Harness, "what may change: harness (the body), description, on its own trigger cases, or shorten: harness, by deletions alone")
	f.who.RegisterSearch(fl)
	f.registerSpending(fl)
	fl.Int64Var(&f.Seed, "seed", -1, "seed of everything random (default: the number of earlier runs)")
	fl.Lookup("seed").DefValue = "0" // "" would be shown;  -1 is no seed that anybody should type
	fl.BoolVar(&f.NoGate, "no-gate", false, "search only; nothing can be promoted from it")
	fl.StringSliceVar(&f.Objectives, "objectives", nil, "what the trial looks at: quality,latency,cost,retries (default all four, in a trial that goes on as it began)")
	fl.BoolVar(&f.promote, "promote", false, "install the new text if its trial finds it better")
	toFlag(fl, &f.to, "with --promote, where to install it")
	fl.StringVar(&f.resume, "resume", "", "continue an interrupted run")
	fl.BoolVar(&f.Anew, "anew", false, "start a new search although a new text is undecided; its trial continues unless the search finds a better one")
	fl.BoolVar(&f.NoHarvest, "no-harvest", false, "use the stored cases only")
	fl.StringVar(&f.harvest.since, "since", "", "harvest sessions of this age at most, for example 30d")
	fl.StringSliceVar(&f.harvest.exclude, "exclude-project", nil, excludeHelp)
	fl.BoolVar(&f.harvest.headless, "include-headless", false, "count sessions that a program drove")
	fl.IntVar(&f.Minibatch, "minibatch", 0, "cases that a child is compared with its parent on (default 8, with a large budget 16)")
	fl.IntVar(&f.Proposals, "proposals", 0, "reflections in parallel (default 4, with a larger budget 8 or 12)")
	fl.IntVar(&f.Patience, "patience", 0, "rounds without gain before the search ends (default 8)")
	fl.StringVar(&f.Select, "select", "", "how parents are chosen: "+oneOf(search.Selectors)+" (default mixed)")
	fl.StringVar(&f.Accept, "accept", "", "what a child must do on its minibatch: "+oneOf(search.Acceptances)+" (default strict)")
	fl.StringVar(&f.Batch, "batch", "", "which cases a minibatch has: "+oneOf(search.Batches)+" (default targeted)")
	fl.StringVar(&f.Stop, "stop", "", "what ends the search: "+oneOf(search.Stops)+" (default patience)")
	fl.StringVar((*string)(&f.Profile), "profile", string(check.ClaudeCode), "rules that a SKILL.md must keep: claude or portable")
}

// oneOf lists the names of a registry in words.
func oneOf[V any](registry map[string]V) string {
	names := sortedKeys(registry)
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// registerSpending registers the caps, and the settings of rollouts.
func (f *runFlags) registerSpending(fl *pflag.FlagSet) {
	fl.Int64Var(&f.MaxRollouts, "max-rollouts", campaign.FromCases, "agent attempts at most, 0 for no cap (default: what the cases call for)")
	fl.Lookup("max-rollouts").DefValue = "0" // -1 is no number that anybody should type
	backend.CapFlags(fl, &f.MaxCostUSD, &f.MaxTokens, false)
	f.flags = fl
	fl.DurationVar(&f.MaxDuration, "max-duration", 0, "time at most, for example 2h")
	fl.BoolVar(&f.DryRun, "dry-run", false, "print the forecast and stop")
	fl.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	backend.ConfirmOverFlag(fl, &f.confirmOver)
	fl.IntVar(&f.MaxRetries, "max-retries", 1, "how often a failed attempt may ask again; in a run, only in the trial")
	fl.IntVar(&f.Concurrency, "concurrency", 0, "rollouts at a time (default 8; 2 with agents that run tools)")
	fl.Float64Var(&f.PerSecond, "rate", 0, "agent calls a second at most")
	fl.DurationVar(&f.WallClock, "timeout", 5*time.Minute, "wall clock of one rollout")
}

// resumable refuses flags that a resumed run would have to ignore: it keeps
// the choices and caps that it began with.
func resumable(c *cobra.Command) error {
	may := []string{"resume", "no-wait", "skill", "file", "promote", "to", "yes", "json", "quiet", "claude-home", "skills-dir"}
	var err error
	c.Flags().Visit(func(f *flagT) {
		if err == nil && !slices.Contains(may, f.Name) {
			err = problem.Inputf("drop the flag, or start a new run, which reuses what was measured",
				"--%s cannot be changed for a run that is resumed", f.Name)
		}
	})
	return err
}

// check refuses invalid combinations before anything is read or spent.
func (f *runFlags) check() error {
	if err := f.Config.Check(); err != nil {
		return err
	}
	switch {
	case f.Evolve == skill.Shorten && f.promote:
		return problem.Inputf("look at what it found with `evolve diff`, and install it with `evolve promote`", "--promote does not work with --evolve shorten: only you install a text that merely lacks lines")
	case len(f.to) > 0 && !f.promote:
		return problem.Inputf("add --promote, or name the targets with `evolve promote`", "--to needs --promote")
	case f.NoGate && f.promote:
		return problem.Inputf("drop one of them", "--promote needs the trial that --no-gate leaves out")
	}
	return nil
}

// sameCommand lets a repeated command resume the run that its first call
// began, if that run still waits for answers.
func sameCommand(ctx context.Context, a *global, f *runFlags) error {
	if f.resume != "" {
		return nil
	}
	if err := a.opener(f.who.NoWait).Resolve(&f.Spec); err != nil && !f.DryRun { // of a dry run, what prepares it has the last word
		return err
	}
	if !f.ByHand() {
		return nil
	}
	db, err := a.existingStore(ctx)
	if err != nil {
		return err
	}
	f.resume, err = campaign.Continued(ctx, db, &f.Config)
	return err
}

func runSkill(ctx context.Context, a *global, f *runFlags) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	if f.resume == "" { // a mistyped name is reported before a missing agent
		var unknown *skill.UnknownSkillError
		if _, err := a.layout().Live(f.Skill); errors.As(err, &unknown) {
			return err
		}
	}
	if _, err := a.layout().Targets(f.Skill, f.to); err != nil { // before anything is spent
		return err
	}
	if f.promote && len(f.to) == 0 && f.Skill != "" { // what is not there is refused later
		if live, err := a.layout().Live(f.Skill); err == nil && live.Tracked {
			return release.OfOthersToo(f.Skill, live.Path)
		}
	}
	sweepTemporary(a)
	if err := sameCommand(ctx, a, f); err != nil {
		return err
	}
	if !f.DryRun && !f.NoHarvest {
		defer func() {
			if ctx.Err() == nil {
				_, e := expireText(ctx, a, f.harvest.headless)
				err = cmp.Or(err, e)
			}
		}()
	}
	c, err := prepareRun(ctx, a, f)
	defer func() { c.Close() }() // with an error too
	var few *campaign.TooFewCasesError
	var held *campaign.WaitingError
	switch limit := (*eval.BudgetError)(nil); {
	case errors.As(err, &held) && f.checks:
		return checking.Waits(ctx, &a.Terminal, a.store, c, held)
	case errors.As(err, &held):
		return sayWaiting(ctx, a, c, held)
	case errors.As(err, &few):
		return tooFew(ctx, a, c, few)
	case errors.As(err, &limit):
		a.Say("%s", c.SpentReading())
	}
	if err != nil {
		return err
	}
	for _, line := range c.Found() {
		a.Say("%s", line)
	}
	fc, err := c.Forecast(ctx)
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
	if f.resume == "" {
		over := c.Beyond()
		if err := approveSpending(a, f.yes, f.confirmOver, fc.CostUSD, over, "Spend up to about %s?", c.SpentReading(), "lower --max-rollouts, or use --yes"); err != nil {
			return err
		}
		if err := c.Allow(ctx, over); err != nil {
			return err
		}
		a.Say("run %s begins", c.Stored().ID)
	}
	res, err := c.Run(ctx)
	if ended := (*campaign.StoppedError)(nil); errors.As(err, &ended) {
		return sayStopped(ctx, a, ended)
	}
	if held := (*campaign.HeldError)(nil); errors.As(err, &held) {
		return checking.Held(ctx, &a.Terminal, a.store, a.outbox, f.Skill, held)
	}
	if err != nil {
		return err
	}
	return concludeRun(ctx, a, f, c, res)
}

// sayStopped prints how to continue a run that ended early.
func sayStopped(ctx context.Context, a *global, ended *campaign.StoppedError) error {
	resume := fmt.Sprintf("everything measured is saved; continue with `evolve --resume %s`", ended.Run)
	if ctx.Err() != nil {
		if a.demo.passing {
			resume = "it is gone with its folder"
		}
		a.Tell("interrupted; %s", resume) // with --quiet too: who stops it has to know
		return &quietExit{exitInterrupted}
	}
	kind, hint := advice.Cause(ended.Err)
	if hint != "" {
		hint += "; "
	}
	return &problem.Error{Kind: kind, Err: ended.Err, Hint: hint + resume}
}
