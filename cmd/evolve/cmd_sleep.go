package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/advice"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/host"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/missed"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newSleepCommand(a *global) *cobra.Command {
	c := &cobra.Command{
		Use:   "sleep",
		Short: "Improve all skills overnight, within one budget",
		Long: `A nightly run reads the new sessions, watches what they show of installed versions,
continues the trials that are not decided, searches for a better text of the
skills that are corrected most, and stages what is better, or installs it if the
policy says so. If another model answers than the one that a version was found
better on, the rest of the budget compares that version with the one before it.
All skills share one budget. A run with nothing to do asks no model.`,
		Example: "  evolve sleep run --dry-run\n  evolve sleep run --max-cost-usd 2\n  evolve sleep install --at 03:17 -- --max-cost-usd 2\n  evolve sleep status",
	}
	parent(c, newSleepRunCommand(a), newSleepInstallCommand(a), newSleepUninstallCommand(a), newSleepStatusCommand(a))
	return c
}

// sleepFlags are the choices of one night.
type sleepFlags struct {
	runFlags
	policy   string
	skills   []string
	rollback bool
	try      bool
	onlyOnAC bool
	ping     bool
	envFile  string
}

func newSleepRunCommand(a *global) *cobra.Command {
	f := &sleepFlags{}
	c := &cobra.Command{
		Use:     "run [SKILL...]",
		Short:   "One night: harvest, try, stage or install, report",
		Example: "  evolve sleep run --dry-run\n  evolve sleep run --max-cost-usd 2 --policy auto",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return startNight(c.Context(), a, f) },
	}
	f.register(c.Flags())
	return c
}

func (f *sleepFlags) register(fl *pflag.FlagSet) {
	f.Schema, f.Seed, f.MaxRetries, f.Profile = 1, -1, 1, check.ClaudeCode
	fl.SortFlags = false
	fl.StringVar(&f.policy, "policy", string(sleep.Staging), "what to do with a better text: stage, or auto, which installs it")
	fl.BoolVar(&f.try, "try", false, "put a new text that is probably better in place, as a trial install")
	fl.StringSliceVar(&f.skills, "skill", nil, "only these skills")
	fl.Int64Var(&f.MaxRollouts, "max-rollouts", 240, "agent attempts of the night at most, all skills together; 0 for no cap")
	backend.CapFlags(fl, &f.MaxCostUSD, &f.MaxTokens, true)
	f.flags = fl
	fl.DurationVar(&f.MaxDuration, "max-duration", 0, "time at most, for example 2h")
	fl.BoolVar(&f.rollback, "rollback-on-alarm", false, "take an installed version back when real sessions raise an alarm")
	fl.BoolVar(&f.onlyOnAC, "only-on-ac", false, "do nothing while the machine runs on its battery")
	fl.StringVar(&f.envFile, "env-file", "", "read keys from this file of your own, mode 0600, a NAME=value a line")
	fl.BoolVar(&f.ping, "ping", false, "ask the agent one tiny question, as a night would, and stop")
	fl.BoolVar(&f.DryRun, "dry-run", false, "say what the night would do, with the sessions harvested so far, and stop")
	f.who.RegisterSearch(fl)
	fl.IntVar(&f.Concurrency, "concurrency", 0, "rollouts at a time (default 8; 2 with agents that run tools)")
	fl.DurationVar(&f.WallClock, "timeout", 5*time.Minute, "wall clock of one rollout")
	fl.StringSliceVar(&f.Objectives, "objectives", nil, "what the trial looks at: quality,latency,cost,retries (default all four, in a trial that goes on as it began)")
	fl.StringVar(&f.harvest.source, "source", "auto", "whose sessions: "+strings.Join(backend.SourceNames(), ", "))
	fl.StringVar(&f.harvest.since, "since", "", "harvest sessions of this age at most, for example 30d")
	fl.StringSliceVar(&f.harvest.exclude, "exclude-project", nil, excludeHelp)
	fl.BoolVar(&f.harvest.headless, "include-headless", false, "count sessions that a program drove")
}

func (f *sleepFlags) check() error {
	if f.policy != string(sleep.Staging) && f.policy != string(sleep.Auto) {
		return problem.Inputf("--policy stage, or auto", "unknown --policy %q", f.policy)
	}
	f.Spec = f.who.Spec()
	return f.runFlags.check()
}

// nightLease is how long a night holds the cycle without renewing its lease;
// 0 uses the cycle's default.
var nightLease time.Duration

func startNight(ctx context.Context, a *global, f *sleepFlags) error {
	home, err := a.home()
	if err = errors.Join(err, f.check()); err != nil {
		return err
	}
	open := a.opener(false)
	open.Control = control(a)
	b := &missed.Beginning{Terminal: &a.Terminal, Dir: home, Opener: open, EnvFile: f.envFile, Ping: f.ping, Looks: f.DryRun || a.isDemo()}
	return b.Run(ctx, f.Spec, func() error { return sleepRun(ctx, a, f) })
}

func sleepRun(ctx context.Context, a *global, f *sleepFlags) error {
	if err := configured(a, f.flags); err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	if f.onlyOnAC && host.OnBattery(host.PowerSupplies) {
		a.Say("on battery: nothing was done")
		return nil
	}
	reg, err := a.layout().Registry()
	if err != nil {
		return err
	}
	for _, name := range f.skills {
		var broken *skill.BrokenSkillError
		if _, err := reg.Lookup(name); err != nil && !errors.As(err, &broken) {
			return err
		}
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	s, err := nightWorker(ctx, a, db, &f.runFlags)
	if err != nil {
		return err
	}
	defer s.Close()
	c := &sleep.Cycle{Parts: s.Parts(), Journal: sleep.Stored(db), Now: a.Now, Owner: host.Owner(), Dead: host.Gone, Lease: nightLease, Demo: a.isDemo(),
		Rollback: f.rollback, RunID: func() string { return record.NewID(a.Now()) },
		OnResume: func(n *sleep.Night) { a.Say("continues night %s (%s)", n.ID, status.BoundsOf(n)) },
		OnStep: func(_ *sleep.Night, k *sleep.Step) {
			if k.Stage == sleep.Begun && k.Attempts <= 1 { // how it ends is the result
				a.Say("%s", stepLine(k))
			}
		}}
	n, err := c.Run(ctx, sleep.Plan{Policy: sleep.Policy(f.policy), Tries: f.try, Skills: f.skills, Dry: f.DryRun,
		Caps: sleep.Caps{Rollouts: f.MaxRollouts, CostUSD: s.Config.MaxCostUSD, Tokens: s.Config.MaxTokens, Duration: f.MaxDuration}})
	var held *sleep.HeldError
	switch {
	case errors.As(err, &held):
		return &problem.Error{Kind: problem.Busy, Err: err, Hint: "wait for it: `evolve sleep status` shows its progress"}
	case !f.DryRun:
		err = expireAnyway(ctx, a, f.harvest.headless, err)
	}
	if err != nil && n == nil {
		return stoppedNight(ctx, a, err)
	}
	var stopped error
	if err != nil {
		stopped = stoppedNight(ctx, a, err)
		ctx = context.WithoutCancel(ctx) // what it came to so far is printed all the same
	}
	r := status.NightOf(n)
	switch r.DryRun = f.DryRun; {
	case stopped != nil:
	case r.DryRun:
		if r.Forecast, err = s.Forecast(ctx, n); err != nil {
			return err
		}
	default:
		s.Tell(n)
		if _, err := expireText(ctx, a, f.harvest.headless); err != nil {
			return err
		}
	}
	if stopped == nil {
		r.Report = writeNight(a, r)
	}
	if a.JSON {
		err = a.PrintJSON(r)
	} else {
		err = a.Show(foldNight(a, r.Text()))
	}
	if stopped != nil {
		return stopped
	}
	for _, k := range n.Steps {
		if k.Stage == sleep.Failed && err == nil {
			err = &quietExit{exitFailed} // it was printed with its step
		}
	}
	return err
}

// stoppedNight is the error of a night that ended unfinished.
func stoppedNight(ctx context.Context, a *global, err error) error {
	if ctx.Err() != nil {
		a.Say("interrupted; `evolve sleep run` continues this night")
		return &quietExit{exitInterrupted}
	}
	kind, hint := advice.Cause(err)
	if hint != "" {
		hint += "; "
	}
	return &problem.Error{Kind: kind, Err: err, Hint: hint + "`evolve sleep run` continues this night"}
}

// stepLine formats a step as one line.
func stepLine(k *sleep.Step) string {
	what := status.KindOfStep(k)
	if k.Skill != "" {
		what += " " + k.Skill
	}
	switch k.Stage {
	case sleep.Begun:
		return what + " begins"
	case sleep.Planned:
		return what + ": planned: " + k.Note
	case sleep.Done:
		return what + ": " + k.Note
	}
	return fmt.Sprintf("%s: %s: %s", what, k.Stage, k.Note)
}

// widest is the line width of a night's output if the terminal's width is
// unknown, as in the journal that a timer writes to.
const widest = 124

// foldNight folds text for stdout.
func foldNight(a *global, text string) string {
	return plain.Fold(text, cmp.Or(term.Columns(a.Stdout), widest))
}
