// Package hookrun is `evolve --hook NAME`: it looks for a better script of a hook, and tries
// what it finds on recorded sessions that the search did not hear.
package hookrun

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/corrections"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooktest"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/tournament/campaign"
	"github.com/skill-evolve/evolve/tournament/hooks"
)

// Parts are what the command works with, opened when it runs.
type Parts struct {
	corrections.Parts
	Tests hooktest.Parts
}

// Flags are those of a run of a hook.
type Flags struct {
	backend.Spending
	Hook, Event, Since string
	Seed               int64
	Anew               bool
	Calls              int
	Weight             float64
}

// Register adds the flags that only a run of a hook has.
func (f *Flags) Register(fl *pflag.FlagSet) {
	fl.StringVar(&f.Hook, "hook", "", "instead of a skill: a hook of your settings, by the name or the path of its script or rule file")
	fl.StringVar(&f.Event, "event", "", "with --hook, the event that it is called at (default: those of the settings; of a script PreToolUse)")
	fl.IntVar(&f.Calls, "calls", 8, "with --hook, how often the model is asked for a text at most")
	fl.Float64Var(&f.Weight, "wrong-block", hooks.DefaultWeight, "with --hook, how many missed calls a call counts as that you permitted and it stops")
}

// Names is the hook that a run is of: --hook, or a skill's name that is the path or the key of a
// script. It refuses the flags that say nothing of a hook.
func (f *Flags) Names(c *cobra.Command, l *skill.Layout, name string) (string, bool, error) {
	hook := f.Hook
	if subject.Parse(name).Kind == subject.Hook {
		if hook != "" {
			return "", false, problem.Inputf("drop one of them", "%s and --hook %s name two hooks", subject.Parse(name).Text(), hook)
		}
		path, err := l.FilePath(name)
		if err != nil {
			return "", false, err
		}
		hook, name = path, ""
	}
	if hook != "" && name != "" {
		return "", false, problem.Inputf("drop one of them", "a run is of one text: %s and --hook %s are two", name, hook)
	}
	asks := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(backend.Spending).Register(asks, "")
	var err error
	c.Flags().Visit(func(x *pflag.Flag) {
		mine, always := slices.Contains(own, x.Name), c.InheritedFlags().Lookup(x.Name) != nil || c.PersistentFlags().Lookup(x.Name) != nil
		switch {
		case err != nil || always:
		case hook == "" && mine:
			err = problem.Inputf("add --hook NAME", "--%s is for runs of a hook", x.Name)
		case hook != "" && !mine && !slices.Contains(shared, x.Name) && asks.Lookup(x.Name) == nil:
			err = problem.Inputf("drop it", "--%s says nothing of a hook: only its recorded calls are replayed", x.Name)
		}
	})
	return hook, hook != "", err
}

// own are the flags that Register adds.
var own = []string{"hook", "event", "calls", "wrong-block"}

// shared are the other flags that say something of a run of a hook.
var shared = []string{"skill", "since", "seed", "anew"}

// Run is the command.
func (p Parts) Run(ctx context.Context, f *Flags) error {
	if err := f.Check(); err != nil {
		return err
	}
	switch {
	case f.Calls < 1:
		return problem.Inputf("for example --calls 8", "--calls %d asks for nothing", f.Calls)
	case !(f.Weight >= 0 && f.Weight <= 1000):
		return problem.Inputf("for example --wrong-block 5", "--wrong-block %v is no weight", f.Weight)
	}
	h, err := p.Tests.Hook(f.Hook, f.Event)
	if err != nil {
		return err
	}
	l := p.Layout()
	key, err := h.Key(l)
	if err != nil {
		return err
	}
	live, err := l.Live(key)
	if err != nil {
		return err
	}
	if err := p.mayRead(live); err != nil {
		return err
	}
	runner, err := p.Runner(&f.Spending)
	if err != nil {
		return err
	}
	db, err := p.Store(ctx)
	if err != nil {
		return err
	}
	spec := f.Who.Spec()
	spec.TextOnly = true
	back, err := runner.Backends(ctx, &spec)
	if err != nil {
		return err
	}
	defer func() { _ = back.Close() }() // what stays behind does no harm
	shown, err := shownTo(ctx, runner, db, back)
	if err != nil {
		return err
	}
	r := &hooks.Run{Store: db, Locks: lock.Locks{Dir: runner.Dir, Now: runner.Now}, Live: live, Spec: spec, Play: h.Play, Now: runner.Now, Path: l.FilePath, Anew: f.Anew,
		Options: hooks.Options{Seed: f.Seed, Calls: f.Calls, Patience: max(3, f.Calls/2), Weight: f.Weight, Event: h.Events[0]}}
	if r.Sessions, err = h.Evidence(ctx, f.Since, shown); err != nil {
		return err
	}
	if err := r.Prepare(ctx); err != nil {
		return err
	}
	if err := p.enough(r, live); err != nil {
		return err
	}
	// A reply with a placeholder in it is none: each would be paid for in vain.
	if _, n := back.Redactor.Redact(string(live.Doc.Render())); n > 0 && r.Searches() {
		return problem.Inputf("have it read a file beside it", "there is a secret in %s, which no model gets and none could write back", subject.Parse(live.Name).Typed())
	}
	if !f.Anew {
		t, _, err := runner.Installer(db).WaitingTrial(ctx, live)
		if err != nil {
			return err
		}
		if t != nil && t.Decision == pareto.Promote { // a search would find it again, and be paid again
			name := subject.Parse(live.Name).Typed()
			return problem.Inputf(fmt.Sprintf("`evolve promote %s@%s` puts it in place, --anew searches on", name, plain.Short(t.Challenger)), "a better text of %s waits already", name)
		}
	}
	spend, err := p.afford(ctx, f, runner, db, back, r)
	if err != nil || !spend {
		return err
	}
	if err := runner.Installer(db).Record(ctx, live); err != nil { // what is found is a version, before anything is made of it
		return err
	}
	if r.Searches() {
		if err := back.Ping(ctx); err != nil {
			return err
		}
	}
	out, err := r.Do(ctx, func(run string) eval.Model {
		return &eval.Metered{Model: back.Mutator, By: eval.ByMutator, Budget: r.Budget, Recorder: db.Journal(run), Redactor: back.Redactor, WallClock: f.WallClock}
	})
	if err != nil {
		if out == nil || errors.Is(err, context.Canceled) {
			return err
		}
		return &problem.Error{Kind: corrections.KindOf(err), Err: err, Hint: "the same command goes on, and nothing is paid twice"}
	}
	res := p.result(h, r, live, out)
	return p.Terminal.Print(res, res.text())
}

// mayRead refuses a script of a repository that its owner has denied: it and the cases beside it
// go to the model.
func (p Parts) mayRead(live *skill.Live) error {
	root, _ := subject.Parse(live.Name).Place()
	if root == "~" {
		return nil
	}
	gate, err := p.Tests.Gate()
	if err != nil || gate.MayRead([]string{root}) {
		return err
	}
	return problem.Refusef(fmt.Sprintf("`evolve projects allow %s` allows it", plain.Arg(root)), "%s may not be read, so its hooks go to no model", plain.Line(root))
}

// shownTo are the sessions of which a model may see calls.
func shownTo(ctx context.Context, r *campaign.Runner, db *store.Store, back *agent.Backends) (func(agent, session string) bool, error) {
	stored, err := db.Sessions(ctx, store.SessionFilter{Text: true, Bare: true})
	if err != nil {
		return nil, err
	}
	readable, err := r.Control.Sessions(ctx, db, back, []string{agent.Mutate}, "")
	if err != nil {
		return nil, err
	}
	return hooktest.Shows(stored, readable), nil
}

// enough refuses a run that could find nothing.
func (p Parts) enough(r *hooks.Run, live *skill.Live) error {
	search, held := r.Divide()
	labelled, own := 0, 0
	for i := range search {
		switch s := &search[i]; {
		case s.Own():
			own++
		case s.Labelled():
			labelled++
		}
	}
	name := subject.Parse(live.Name).Typed()
	switch {
	case !r.Searches() && len(held) == 0:
		return problem.Inputf("come back after more sessions, or search again with --anew", "nothing new is known since the last trial of a text for %s", name)
	case r.Searches() && labelled+own == 0:
		return problem.Inputf("`evolve hooks learn` has a model read why you refused calls; or write cases beside the script, as `evolve hooks new` does",
			"no recorded session shows what %s should stop, or should not", name)
	}
	found := plain.Counted(labelled, "session") + " to search in"
	if own > 0 {
		found = plain.Counted(own, "case") + " of its author and " + found
	}
	p.Terminal.Say("%s: %s, %s that are kept for the trial", name, found, plain.Counted(len(held), "session"))
	return nil
}

// afford forecasts what the model costs and asks; false if that was all.
func (p Parts) afford(ctx context.Context, f *Flags, runner *campaign.Runner, db *store.Store, back *agent.Backends, r *hooks.Run) (bool, error) {
	fc := &forecast{Schema: 1, CostUSD: new(float64), Model: agent.ModelName(r.Spec.ReflectAgent, r.Spec.ReflectModel), free: agent.KindOf(r.Spec.ReflectAgent).Simulated}
	if r.Searches() {
		c := &counter{id: back.Mutator.Identity()}
		if err := r.Ask(ctx, c); err != nil && c.in == 0 {
			return false, err
		}
		if c.in > 0 {
			fc.Calls = int64(f.Calls)
		}
		out := int64(skill.Tokens(string(r.Live.Doc.Render())) + sentence)
		fc.Tokens = fc.Calls * (c.in + out)
		if !fc.free {
			fc.CostUSD = r.Spec.Price(r.Spec.ReflectModel).USD(&eval.Usage{Input: fc.Calls * c.in, Output: fc.Calls * out})
		}
		var err error
		if fc.Sends, err = runner.Control.Forecast(ctx, db, back, nil, map[string]int64{agent.Mutate: fc.Calls * c.bytes}); err != nil {
			return false, err
		}
		for i := range fc.Sends {
			fc.Sends[i].Projects = projects(r)
		}
	}
	p.Terminal.Say("%s", fc)
	if f.DryRun {
		if p.Terminal.JSON {
			return false, p.Terminal.PrintJSON(fc)
		}
		return false, nil
	}
	if err := p.Fund(ctx, &f.Spending, false); err != nil {
		return false, err
	}
	r.Budget = f.Purse.Part()
	if fc.Calls == 0 {
		return true, nil
	}
	return true, p.Approve(&f.Spending, fc.CostUSD, fc.Tokens, "Spend up to about %s?")
}

// projects are the folders of the sessions of which a model may see calls.
func projects(r *hooks.Run) []outgoing.Project {
	var folders []string
	search, _ := r.Divide()
	for i := range search {
		s := &search[i]
		if s.Project != "" && s.Labelled() && slices.ContainsFunc(s.Events, func(e hooks.Event) bool { return e.Shown != nil }) {
			folders = append(folders, s.Project)
		}
	}
	return outgoing.OfSessions(folders)
}

// A forecast is what a run takes, estimated before anything is spent: schema 1.
type forecast struct {
	Schema  int             `json:"schema"`
	Model   string          `json:"model"`
	Calls   int64           `json:"calls"` // at most
	Tokens  int64           `json:"tokens"`
	CostUSD *float64        `json:"cost_usd"`
	Sends   []outgoing.Send `json:"sends,omitempty"`

	free bool
}
