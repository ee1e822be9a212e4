package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/spf13/cobra"
)

// A runConfig is what one run was asked for, and what it began with. Its JSON form is
// stored with the run, so that a resumed run makes the same decisions.
type runConfig struct {
	Schema int    `json:"schema"`
	Skill  string `json:"skill"`
	Evolve string `json:"evolve,omitempty"` // skill.Harness, skill.Description or evolveShorten
	Typed  string `json:"typed,omitempty"`  // the flags as they were typed, for a run that waits for answers
	Seed   int64  `json:"seed"`
	agent.Spec
	MaxRollouts int64         `json:"max_rollouts"`
	MaxCostUSD  float64       `json:"max_cost_usd,omitempty"`
	MaxTokens   int64         `json:"max_tokens,omitempty"`
	MaxDuration time.Duration `json:"max_duration,omitempty"`
	MaxRetries  int           `json:"max_retries"`
	Concurrency int           `json:"concurrency"`
	PerSecond   float64       `json:"rate,omitempty"`
	WallClock   time.Duration `json:"wall_clock"`
	NoGate      bool          `json:"no_gate,omitempty"`
	Objectives  []string      `json:"objectives,omitempty"`
	Minibatch   int           `json:"minibatch,omitempty"`
	Proposals   int           `json:"proposals,omitempty"`
	Patience    int           `json:"patience,omitempty"`
	Select      string        `json:"select,omitempty"`
	Accept      string        `json:"accept,omitempty"`
	Batch       string        `json:"batch,omitempty"`
	Stop        string        `json:"stop,omitempty"`
	Profile     skill.Profile `json:"profile"`

	// What the run started from: filled in when it begins.
	Incumbent []byte            `json:"incumbent"`
	Cases     map[string]string `json:"cases"` // id → hash; the splits are in Splits
	Splits    map[string]string `json:"splits"`
	Carried   string            `json:"carried,omitempty"` // SHA-256 of an undecided challenger
	// Standing is the SHA-256 of an undecided challenger that a new search has to
	// beat to put another one in its place.
	Standing string `json:"standing,omitempty"`
	// Approved are the SHA-256 of candidates that the owner let out of quarantine:
	// the search begins with them beside the incumbent. Barred are those that the
	// owner has rejected, and that it must never propose.
	Approved []string `json:"approved,omitempty"`
	Barred   []string `json:"barred,omitempty"`
	// HeldOut counts the held-out cases that no challenger of this incumbent has
	// spent: what the gate's share of the budget is for.
	HeldOut int `json:"held_out"`
	// Clusters are those of HeldOut, of which the gate has one pair each. 0 for the run
	// of an older version, or where a trial is continued.
	Clusters int    `json:"clusters,omitempty"`
	Rest     string `json:"rest,omitempty"` // hash over the skill's other files
	// Level is the error rate that a night's lifetime control leaves a trial that
	// begins in this run; 0 is the gate's own.
	Level float64    `json:"level,omitempty"`
	Mined eval.Spent `json:"mined"` // what mining spent before the search
}

// runFlags are the choices of one run: its configuration, and what concerns this
// process alone.
type runFlags struct {
	runConfig
	who       backend.Flags // as they are typed
	harvest   harvestFlags
	noHarvest bool
	harvested bool // this night, just now
	// atMost bounds a run that a night resumes, where the night has less left than
	// the run began with; its decisions stay a function of its own caps.
	atMost eval.Caps
	id     string // of the run; "" for a new one
	// owned is called once the skill is this process' own, before anything else is
	// read or spent; nil for nothing.
	owned       func(context.Context) error
	promote     bool
	to          []string // where promote installs
	dryRun      bool
	yes         bool
	resume      string
	anew        bool
	confirmOver float64
}

func newRunCommand(a *app) *cobra.Command {
	f := &runFlags{runConfig: runConfig{Schema: 1}}
	c := &cobra.Command{
		Use:   "run --skill NAME",
		Short: "Harvest, search, prove and stage a better version of a skill",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.Skill == "" && f.resume == "" {
				if c.Flags().NFlag() == 0 {
					return a.bare(c)
				}
				return problem.Inputf("for example `evolve --skill dataviz`; `evolve status` lists the skills", "a run needs --skill NAME or --resume RUN")
			}
			if f.resume != "" {
				if err := resumable(c); err != nil {
					return err
				}
			}
			if !c.Flags().Changed("max-rollouts") && a.isDemo() {
				f.MaxRollouts = demoRollouts
			}
			c.Flags().Visit(func(fl *flagT) {
				if !contains([]string{"no-wait", "yes", "json", "quiet"}, fl.Name) {
					f.Typed += fmt.Sprintf("--%s=%s ", fl.Name, fl.Value)
				}
			})
			f.Spec = f.who.Spec()
			return a.runSkill(c.Context(), f)
		},
	}
	fl := c.Flags()
	fl.SortFlags = false
	fl.StringVar(&f.Skill, "skill", "", "name of the skill")
	fl.StringVar(&f.Evolve, "evolve", skill.Harness, "what may change: harness (the body), description, on its own trigger cases, or shorten: harness, by deletions alone")
	f.who.Register(fl)
	fl.Int64Var(&f.MaxRollouts, "max-rollouts", 120, "agent attempts at most; 0 for no cap")
	fl.Float64Var(&f.MaxCostUSD, "max-cost-usd", 0, "dollars at most, over every call")
	fl.Int64Var(&f.MaxTokens, "max-tokens", 0, "tokens at most, over every call")
	fl.DurationVar(&f.MaxDuration, "max-duration", 0, "time at most, for example 2h")
	fl.IntVar(&f.MaxRetries, "max-retries", 1, "how often the gate lets a failed attempt ask again")
	fl.IntVar(&f.Concurrency, "concurrency", 0, "rollouts at a time (default 8; 2 with agents that run tools)")
	fl.Float64Var(&f.PerSecond, "rate", 0, "agent calls a second at most")
	fl.DurationVar(&f.WallClock, "timeout", 5*time.Minute, "wall clock of one rollout")
	fl.Int64Var(&f.Seed, "seed", -1, "seed of everything random (default: the number of earlier runs)")
	fl.Lookup("seed").DefValue = "0" // "" would be shown;  -1 is no seed that anybody should type
	fl.BoolVar(&f.NoGate, "no-gate", false, "search only; nothing can be promoted from it")
	fl.StringSliceVar(&f.Objectives, "objectives", nil, "what the gate looks at: quality,latency,cost,retries (default all four)")
	fl.BoolVar(&f.promote, "promote", false, "install the challenger if the gate proves it")
	toFlag(fl, &f.to, "with --promote, where to install it")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print the forecast and stop")
	fl.BoolVarP(&f.yes, "yes", "y", false, "do not ask before spending")
	backend.ConfirmOverFlag(fl, &f.confirmOver)
	fl.StringVar(&f.resume, "resume", "", "go on with an interrupted run")
	fl.BoolVar(&f.anew, "anew", false, "start a new search although a challenger is undecided; its trial continues unless the search finds a better text")
	fl.BoolVar(&f.noHarvest, "no-harvest", false, "use the stored cases only")
	fl.StringVar(&f.harvest.since, "since", "", "harvest sessions of this age at most, for example 30d")
	fl.StringSliceVar(&f.harvest.exclude, "exclude-project", nil, "folders whose sessions are never read (glob)")
	fl.BoolVar(&f.harvest.headless, "include-headless", false, "count sessions that a program drove")
	fl.IntVar(&f.Minibatch, "minibatch", 0, "cases that a child is compared with its parent on (default 8)")
	fl.IntVar(&f.Proposals, "proposals", 0, "reflections in parallel (default 4)")
	fl.IntVar(&f.Patience, "patience", 0, "rounds without gain before the search ends (default 8)")
	fl.StringVar(&f.Select, "select", "", "how parents are chosen: pareto, best, mixed, top-k or epsilon (default mixed)")
	fl.StringVar(&f.Accept, "accept", "", "what a child must do on its minibatch: strict or equal (default strict)")
	fl.StringVar(&f.Batch, "batch", "", "which cases a minibatch has: targeted or shuffled (default targeted)")
	fl.StringVar(&f.Stop, "stop", "", "what ends the search: patience, perfect or budget (default patience)")
	fl.StringVar((*string)(&f.Profile), "profile", string(skill.ClaudeCode), "rules that a SKILL.md must keep: claude-code or portable")
	return c
}

// resumable refuses what a resumed run would have to ignore: it is a function of
// the choices that it began with, its caps included.
func resumable(c *cobra.Command) error {
	may := []string{"resume", "no-wait", "skill", "promote", "to", "yes", "json", "quiet", "claude-home", "skills-dir"}
	var err error
	c.Flags().Visit(func(f *flagT) {
		if err == nil && !contains(may, f.Name) {
			err = problem.Inputf("drop it, or start a new run: what was measured is not measured again",
				"--%s cannot be changed for a run that is resumed", f.Name)
		}
	})
	return err
}

// check refuses what makes no sense before anything is read or spent.
func (f *runFlags) check() error {
	switch {
	case f.MaxRollouts < 0 || !sensible(f.MaxCostUSD) || f.MaxTokens < 0 || f.MaxDuration < 0:
		return problem.Inputf("0 means no cap", "a cap cannot be negative")
	case !sensible(f.PriceIn) || !sensible(f.PriceOut):
		return problem.Inputf("in USD per million tokens, for example --price-in 0.25 --price-out 2", "a price cannot be negative")
	case !sensible(f.PerSecond) || f.WallClock < 0 || f.Minibatch < 0 || f.Proposals < 0 || f.Patience < 0 || f.Seed < -1:
		return problem.Inputf("0 is the default, or no limit", "--rate, --timeout, --minibatch, --proposals, --patience and --seed cannot be negative")
	case f.MaxRetries < 0 || f.MaxRetries > 10:
		return problem.Inputf("0 turns work retries off", "--max-retries %d is not between 0 and 10", f.MaxRetries)
	case f.Concurrency < 0 || f.Concurrency > 256:
		return problem.Inputf("", "--concurrency %d is not between 1 and 256", f.Concurrency)
	case f.Profile != skill.ClaudeCode && f.Profile != skill.Portable:
		return problem.Inputf("the profiles are claude-code and portable", "unknown profile %q", f.Profile)
	case f.Select != "" && tournament.Selectors[f.Select] == nil:
		return problem.Inputf("the strategies are pareto, best, mixed, top-k and epsilon", "unknown --select %q", f.Select)
	case f.Batch != "" && tournament.Batches[f.Batch] == nil:
		return problem.Inputf("the strategies are targeted and shuffled", "unknown --batch %q", f.Batch)
	case f.Stop != "" && tournament.Stops[f.Stop] == nil:
		return problem.Inputf("the strategies are patience, perfect and budget", "unknown --stop %q", f.Stop)
	case f.Accept != "" && tournament.Acceptances[f.Accept] == nil:
		return problem.Inputf("the strategies are strict and equal", "unknown --accept %q", f.Accept)
	case f.Objectives != nil && !contains(f.Objectives, "quality"):
		return problem.Inputf("for example --objectives quality,cost,retries", "--objectives must name quality")
	case !contains([]string{"", skill.Harness, skill.Description, skill.Shorten}, f.Evolve):
		return problem.Inputf("--evolve harness, description, or shorten", "unknown --evolve %q", f.Evolve)
	case f.Evolve == skill.Shorten && f.promote:
		return problem.Inputf("look at what it found with `evolve diff`, and install it with `evolve promote`", "--promote does not go with --evolve shorten: what only lacks lines is yours to install")
	case len(f.to) > 0 && !f.promote:
		return problem.Inputf("add --promote, or name the targets with `evolve promote`", "--to is where --promote installs")
	case f.NoGate && f.promote:
		return problem.Inputf("drop one of them", "--promote needs the gate that --no-gate leaves out")
	}
	for _, o := range f.Objectives {
		if known := []string{"quality", "latency", "cost", "retries"}; !contains(known, o) {
			hint := "the objectives are " + strings.Join(known, ", ")
			if near := skill.Nearest(o, known); near != "" {
				hint = "did you mean " + near + "?"
			}
			return problem.Inputf(hint, "unknown objective %q", o)
		}
	}
	return nil
}

// answer resolves who answers, into the configuration.
func (f *runFlags) answer(a *app) error {
	return a.opener(f.who.NoWait).Resolve(&f.Spec)
}

// open makes the backends of a run.
func (f *runFlags) open(ctx context.Context, a *app) (*agent.Backends, error) {
	return a.opener(f.who.NoWait).Backends(ctx, &f.Spec)
}

// settle fills in what depends on who answers, once that is known, and refuses
// a cap that nobody could keep.
func (f *runFlags) settle(back *agent.Backends) error {
	if f.Concurrency == 0 {
		f.Concurrency = back.AtATime
	}
	if f.ByHand() {
		f.WallClock = 0 // people have none
	}
	if f.MaxCostUSD > 0 {
		if err := f.Priced(); err != nil {
			return problem.Inputf("for example --price-in 0.25 --price-out 2, or `prices:` in config.yaml; or hold the run with --max-tokens",
				"--max-cost-usd cannot be kept: %v", err)
		}
	}
	return nil
}

// sensible reports whether x is a number, and not negative.
func sensible(x float64) bool { return x >= 0 && !math.IsInf(x, 0) }

func (a *app) runSkill(ctx context.Context, f *runFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	if _, err := a.targets(f.to); err != nil { // before anything is spent
		return err
	}
	a.sweep()
	if err := a.sameCommand(ctx, f); err != nil {
		return err
	}
	p, err := a.prepare(ctx, f)
	if p != nil {
		defer p.end()
	}
	var held *waiting
	if errors.As(err, &held) {
		return a.wait(ctx, p, held)
	}
	if limit := (*eval.BudgetError)(nil); errors.As(err, &limit) {
		a.Say("%s", p.read())
	}
	if err != nil {
		return err
	}
	for _, line := range p.heads {
		a.Say("%s", line)
	}
	past, err := a.history(ctx, p)
	if err != nil {
		return err
	}
	fc := p.forecast(past)
	a.Say("%s", fc)
	if f.resume == "" && !f.dryRun {
		a.Say("run %s begins", p.run.ID)
	}
	if f.dryRun {
		if a.JSON {
			return a.PrintJSON(fc)
		}
		return nil
	}
	if fc.CostUSD != nil && *fc.CostUSD > a.confirmOver(f.confirmOver) && !f.yes && f.resume == "" && term.IsTerminal(a.Stdin) {
		ok, err := a.Confirm(fmt.Sprintf("Spend up to about %s?", eval.FormatUSD(*fc.CostUSD)))
		if err != nil {
			return err
		}
		if !ok {
			return &problem.Error{Kind: problem.Stopped, Err: errors.New(p.read()), Hint: "lower --max-rollouts, or say --yes"}
		}
	}
	bar := a.Watch(p.task(fc))
	void := &voids{}
	p.plan.OnEvent, p.plan.OnRollout = bar.Event, func(r *eval.Rollout) { void.count(r); bar.Rollout(r) }
	out, err := tournament.Improve(ctx, p.plan)
	bar.Done()
	if err != nil {
		return a.stopped(ctx, p, err)
	}
	out.Warnings = append(out.Warnings, void.words()...)
	return a.conclude(ctx, p, out)
}

// stopped says how to go on after a run that ended early.
func (a *app) stopped(ctx context.Context, p *prepared, err error) error {
	resume := fmt.Sprintf("everything measured is saved; go on with `evolve --resume %s`", p.run.ID)
	if ctx.Err() != nil {
		if a.passing {
			resume = "it is gone with its folder"
		}
		a.Tell("interrupted; %s", resume) // with --quiet too: who stops it has to know
		return &quietExit{exitInterrupted}
	}
	kind, hint := classify(err)
	if hint != "" {
		hint += "; "
	}
	return &problem.Error{Kind: kind, Err: err, Hint: hint + resume}
}

// gate is the rule of a trial that begins in this run.
func (f *runFlags) gate() pareto.Config {
	if f.Level > 0 {
		return pareto.DefaultConfig().Within(f.Level)
	}
	return pareto.DefaultConfig()
}

func (f *runFlags) caps() eval.Caps {
	return eval.Caps{Rollouts: f.MaxRollouts, CostUSD: f.MaxCostUSD, Tokens: f.MaxTokens, Duration: f.MaxDuration}
}

// runStamp is the layout of the time that a run's id begins with.
const runStamp = "20060102-150405"

// newRunID names a run by when it began: sorted by name is sorted by time.
func newRunID(now time.Time) string {
	var b [3]byte
	rand.Read(b[:])
	return now.UTC().Format(runStamp) + "-" + hex.EncodeToString(b[:])
}
