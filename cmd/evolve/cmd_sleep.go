package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newSleepCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "sleep",
		Short: "Better in the morning: one cycle a night over all skills",
		Long: `A night reads the new sessions, watches what they say of installed versions, tries
these again where the model is another one, goes on with the trials of undecided
challengers, looks for a better text of the skills that are corrected most, and
stages what the gate proves, or installs it where the policy says so. It has one
budget for all skills. A night without anything to do asks no model.`,
		Example: "  evolve sleep run --dry-run\n  evolve sleep run --max-cost-usd 2\n  evolve sleep install --at 03:17 -- --max-cost-usd 2\n  evolve sleep status",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(c, args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newSleepRunCommand(a), newSleepInstallCommand(a), newSleepUninstallCommand(a), newSleepStatusCommand(a))
	return c
}

// sleepFlags are the choices of one night.
type sleepFlags struct {
	runFlags
	policy   string
	skills   []string
	rollback bool
	onlyOnAC bool
}

func newSleepRunCommand(a *app) *cobra.Command {
	f := &sleepFlags{}
	c := &cobra.Command{
		Use:   "run",
		Short: "One night: harvest, try, stage or install, report",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return a.sleepRun(c.Context(), f) },
	}
	f.register(c.Flags())
	return c
}

func (f *sleepFlags) register(fl *pflag.FlagSet) {
	f.Schema, f.Seed, f.MaxRetries, f.Profile = 1, -1, 1, skill.ClaudeCode
	fl.SortFlags = false
	fl.StringVar(&f.policy, "policy", string(sleep.Staging), "what to do with what is proved: stage, or auto, which installs it")
	fl.StringSliceVar(&f.skills, "skill", nil, "only these skills")
	fl.Int64Var(&f.MaxRollouts, "max-rollouts", 240, "agent attempts of the night at most, all skills together; 0 for no cap")
	fl.Float64Var(&f.MaxCostUSD, "max-cost-usd", 0, "dollars at most, over every call")
	fl.Int64Var(&f.MaxTokens, "max-tokens", 0, "tokens at most, over every call")
	fl.DurationVar(&f.MaxDuration, "max-duration", 0, "time at most, for example 2h")
	fl.BoolVar(&f.rollback, "rollback-on-alarm", false, "take an installed version back when real sessions raise an alarm")
	fl.BoolVar(&f.onlyOnAC, "only-on-ac", false, "do nothing while the machine runs on its battery")
	fl.BoolVar(&f.DryRun, "dry-run", false, "say what the night would do, with the sessions harvested so far, and stop")
	f.who.Register(fl)
	fl.IntVar(&f.Concurrency, "concurrency", 0, "rollouts at a time (default 8; 2 with agents that run tools)")
	fl.DurationVar(&f.WallClock, "timeout", 5*time.Minute, "wall clock of one rollout")
	fl.StringSliceVar(&f.Objectives, "objectives", nil, "what the gate looks at: quality,latency,cost,retries (default all four)")
	fl.StringVar(&f.harvest.source, "source", "auto", "whose sessions: "+strings.Join(backend.SourceNames(), ", "))
	fl.StringVar(&f.harvest.since, "since", "", "harvest sessions of this age at most, for example 30d")
	fl.StringSliceVar(&f.harvest.exclude, "exclude-project", nil, "folders whose sessions are never read (glob)")
	fl.BoolVar(&f.harvest.headless, "include-headless", false, "count sessions that a program drove")
}

func (f *sleepFlags) check() error {
	if f.policy != string(sleep.Staging) && f.policy != string(sleep.Auto) {
		return problem.Inputf("--policy stage, or auto", "unknown --policy %q", f.policy)
	}
	f.Spec = f.who.Spec()
	return f.runFlags.check()
}

// A nightReport is what `evolve sleep run --json` prints: schema 1.
type nightReport struct {
	*sleep.Night
	Spent eval.Spent `json:"spent"`
	// Warnings qualify what the night came to.
	Warnings []string `json:"warnings"`
	DryRun   bool     `json:"dry_run"`
	// Forecast of a dry run, null where nothing is to be paid.
	Forecast *nightForecast `json:"forecast,omitempty"`
	Waiting  []string       `json:"waiting"` // what waits for its owner, in words; alarms first
	// Retire are the skills that nights propose to retire, whichever night found
	// that.
	Retire []retirement `json:"retire"`

	alarms int // of Waiting
	// Report is the night's page, "" for a night that had nothing to do.
	Report string `json:"report,omitempty"`
}

// nightLease is how long a night keeps the cycle without renewing that; 0 is the
// cycle's own choice.
var nightLease time.Duration

func (a *app) sleepRun(ctx context.Context, f *sleepFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.onlyOnAC && onBattery(powerSupplies) {
		a.Say("on battery: nothing was done")
		return nil
	}
	reg, err := a.registry()
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
	s := a.newSleeper(db, f.runFlags)
	defer s.close()
	c := &sleep.Cycle{Parts: s.parts(), Journal: sleep.Stored(db), Now: a.Now, Owner: cycleOwner(), Dead: ownerGone, Lease: nightLease, Demo: a.isDemo(),
		Rollback: f.rollback, RunID: func() string { return campaign.NewID(a.Now()) },
		OnResume: func(n *sleep.Night) { a.Say("goes on with night %s (%s)", n.ID, boundsOf(n)) },
		OnStep: func(_ *sleep.Night, k *sleep.Step) {
			if k.Stage == sleep.Begun && k.Attempts <= 1 { // how it ends is the result
				a.Say("%s", stepLine(k))
			}
		}}
	n, err := c.Run(ctx, sleep.Plan{Policy: sleep.Policy(f.policy), Skills: f.skills, Dry: f.DryRun,
		Caps: sleep.Caps{Rollouts: f.MaxRollouts, CostUSD: f.MaxCostUSD, Tokens: f.MaxTokens, Duration: f.MaxDuration}})
	var held *sleep.HeldError
	switch {
	case errors.As(err, &held):
		return &problem.Error{Kind: problem.Busy, Err: err, Hint: "wait for it: `evolve sleep status` tells how far it is"}
	case err != nil && n == nil:
		return a.stoppedNight(ctx, err)
	}
	var stopped error
	if err != nil {
		stopped = a.stoppedNight(ctx, err)
		ctx = context.WithoutCancel(ctx) // what it came to so far is told all the same
	}
	r := reportOf(n)
	switch r.DryRun = f.DryRun; {
	case stopped != nil:
	case r.DryRun:
		if r.Forecast, err = s.foresee(ctx, n); err != nil {
			return err
		}
	default:
		s.tell(n)
	}
	if r.Retire, err = a.retirements(ctx, db); err != nil {
		return cmp.Or(stopped, err)
	}
	if stopped == nil {
		r.Report = a.writeNight(r)
	}
	if a.JSON {
		err = a.PrintJSON(r)
	} else {
		_, err = fmt.Fprint(a.Stdout, a.narrow(r.text()))
	}
	if stopped != nil {
		return stopped
	}
	for _, k := range n.Steps {
		if k.Stage == sleep.Failed && err == nil {
			err = &quietExit{exitFailed} // it was said with its step
		}
	}
	return err
}

// stoppedNight is how a night ends that stays open.
func (a *app) stoppedNight(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		a.Say("interrupted; `evolve sleep run` continues this night")
		return &quietExit{exitInterrupted}
	}
	kind, hint := classify(err)
	if hint != "" {
		hint += "; "
	}
	return &problem.Error{Kind: kind, Err: err, Hint: hint + "`evolve sleep run` continues this night"}
}

// reportOf is a night, and what it leaves for the owner to do.
func reportOf(n *sleep.Night) *nightReport {
	return &nightReport{Night: n, Spent: n.Spent(), Warnings: n.Warnings(), Waiting: waitingIn(n), Retire: []retirement{}, alarms: len(alarmsIn(n))}
}

// waitingIn lists what a night leaves for the owner to do, alarms first.
func waitingIn(n *sleep.Night) []string {
	out := alarmsIn(n)
	for _, k := range n.Steps {
		if w := leftTo(&k); w != "" {
			out = append(out, w)
		}
	}
	return append(out, beyond(n)...)
}

// leftTo is what a step leaves for the owner to do, "" for nothing.
func leftTo(k *sleep.Step) string {
	switch {
	case k.Kind == sleep.Install && k.Stage == sleep.Skipped && k.Result != nil:
		return fmt.Sprintf("%s@%.12s: %s; `evolve promote %s`", k.Skill, k.Result.Challenger, k.Note, k.Skill)
	case k.Kind == sleep.Rebase && k.Stage == sleep.Skipped:
		return k.Note
	case k.Kind == sleep.Install && (k.Stage == sleep.Skipped || k.Stage == sleep.Failed), asksForLabels(k):
		return k.Skill + ": " + k.Note
	}
	return ""
}

// asksForLabels reports whether a step was left because nothing but its owner's labels
// would bring it on.
func asksForLabels(k *sleep.Step) bool {
	return k.Stage == sleep.Skipped && strings.Contains(k.Note, "`evolve review ")
}

func alarmsIn(n *sleep.Night) []string {
	out := []string{}
	for _, k := range n.Steps {
		if isAlarm(&k) {
			out = append(out, k.Skill+": "+alarmWords(&k))
		}
	}
	return out
}

// isAlarm reports whether a step has told of something that got worse.
func isAlarm(k *sleep.Step) bool {
	return (k.Kind == sleep.Watch || k.Kind == sleep.Certify) && strings.HasPrefix(k.Note, "alarm: ")
}

// alarmWords are an alarm with what can be done about it.
func alarmWords(k *sleep.Step) string {
	if strings.HasSuffix(k.Note, takenBack) {
		return k.Note
	}
	return fmt.Sprintf("%s; `evolve rollback %s`", k.Note, k.Skill)
}

// kindOfStep is what a step does, in words.
func kindOfStep(k *sleep.Step) string {
	if k.Part != sleep.Harness {
		return fmt.Sprintf("%s %s", k.Kind, k.Part)
	}
	return string(k.Kind)
}

// stepLine is a step in one line.
func stepLine(k *sleep.Step) string {
	what := kindOfStep(k)
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

// text says in a few lines what came of a night.
func (r *nightReport) text() string {
	var b strings.Builder
	if r.DryRun {
		if r.Generation > 0 { // it was saved
			fmt.Fprintf(&b, "night %s goes on (%s):\n", r.ID, boundsOf(r.Night))
		} else {
			fmt.Fprintf(&b, "a night now, with the sessions harvested so far:\n")
		}
	} else {
		fmt.Fprintf(&b, "night %s: %s\n", r.ID, harvestedIn(r.Night))
	}
	t := tabwriter.NewWriter(&b, 2, 0, 2, ' ', 0)
	said := 0
	var open []string // of a night that stays open
	for _, k := range r.Steps {
		if k.Skill == "" {
			continue
		}
		said++
		if k.Stage == sleep.Waits || !r.DryRun && (isAlarm(&k) || leftTo(&k) != "") {
			continue // below
		}
		if !r.DryRun && k.Stage == sleep.Planned {
			open = append(open, k.Skill)
			continue
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", k.Skill, kindOfStep(&k), k.Stage, oneLine(foreseen(&k)+k.Note))
	}
	t.Flush()
	b.WriteString(laterNights(r.Night))
	if len(open) > 0 {
		fmt.Fprintf(&b, "  later  %s: not begun\n", fewNames(open))
	}
	if said == 0 && (r.DryRun || !r.Ended.IsZero()) {
		b.WriteString(idleNight(r.Idle))
	}
	if fc := r.Forecast; fc != nil {
		fmt.Fprintf(&b, "  forecast  %s\n", fc.takes())
		if words := fc.reads(); words != "" {
			fmt.Fprintf(&b, "  reading   corrections: %s\n", words)
		}
	}
	if !r.DryRun {
		fmt.Fprintf(&b, "  spent  %s\n", spent(r.Spent))
		b.WriteString(r.warned("  warning"))
	}
	if r.Report != "" {
		fmt.Fprintf(&b, "  report %s\n", r.Report)
	}
	for _, w := range r.next() {
		fmt.Fprintf(&b, "  next   %s\n", oneLine(w))
	}
	return b.String()
}

// harvestedIn says what a night has read, or that it has not come so far.
func harvestedIn(n *sleep.Night) string {
	if len(n.Steps) == 0 || n.Steps[0].Note == "" {
		return "it has read no sessions yet"
	}
	return n.Steps[0].Note
}

// widest is how wide the lines of a night are where no terminal says how wide it is: a
// timer's are read in a journal.
const widest = 124

// narrow is text as it fits stdout.
func (a *app) narrow(text string) string {
	return plain.Fold(text, cmp.Or(term.Columns(a.Stdout), widest))
}
