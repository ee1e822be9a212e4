// Package campaign is one run of one skill: it prepares, forecasts, searches, asks the
// gate and reports; it also compares two texts of a skill.
package campaign

import (
	"context"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/probes"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/tournament/campaign/readlimit"
	"github.com/skill-evolve/evolve/tournament/caps"
	"github.com/skill-evolve/evolve/tournament/neighbours"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/search"
)

// A Runner prepares runs.
type Runner struct {
	// Store opens the database, and makes it if there is none. It is called
	// once the agents are known.
	Store func(context.Context) (*store.Store, error)
	// Existing opens the database if there is one; else it is nil.
	Existing func(context.Context) (*store.Store, error)
	Layout   *skill.Layout
	Dir      datadir.Dir
	Access   datadir.Access // challengers are written to Dir if it is datadir.Writes
	Now      func() time.Time
	// Say reports the progress of preparing a run, a line at a time.
	Say func(format string, args ...any)
	// Backends opens the agents, and fills in the open choices.
	Backends func(context.Context, *agent.Spec) (*agent.Backends, error)
	// Control decides which cases and sessions may be sent to whom.
	Control *outgoing.Control
	// Harvest reads the new sessions.
	Harvest  func(context.Context, *store.Store) (*ingest.Report, error)
	Headless bool // sessions that a program drove count, too
	// Installer installs texts.
	Installer func(*store.Store) *release.Installer
	// PriceOf is the price of a model by its name, nil if it is not known.
	PriceOf func(model string) *eval.Price
	// Default are the caps, of a night or else of a run or comparison, whose owner has chosen
	// neither dollars nor tokens: dollars where they can be counted, else tokens, of which 0
	// is those of 40 median recorded sessions and -1 no cap. nil: they have chosen.
	Default func(night bool) (*eval.Caps, error)
	// Review lets the owner compare answers before their judge is measured; nil: nobody is
	// asked.
	Review func(ctx context.Context, db *store.Store, skill string) error
	// Probe has the kernel probes of a skill answered, if their owner approved some; nil: nobody
	// does. It keeps within what the caps of a run leave of tokens, dollars and time.
	Probe func(context.Context, *Runner, ProbeRequest) (probes.Standing, eval.Spent, error)
	// ProbeCaps are the caps of the probes of one text, apart from the payer's. Fewer rollouts
	// than 0 are none at all.
	ProbeCaps func() (eval.Caps, error)
	// Watch shows the progress of what takes a while.
	Watch func(report.Task) report.View
}

// Options concern the process of a run, and are not stored with it.
type Options struct {
	Run       string   // the id of a new run, "" for one of its own making
	NoHarvest bool     // use the stored cases only
	To        []string // targets that a promotion would go to, nil for those configured
	Anew      bool     // search although a challenger is undecided
	DryRun    bool     // nothing is spent or locked: for a forecast
	// Night: the sessions were harvested just now, Approve is not called, and
	// the reading of corrections has a limit of its own.
	Night bool
	// AtMost bounds a resumed run if a night has less left than the run began
	// with. The run's decisions still depend on its own caps.
	AtMost eval.Caps
	Lease  *lock.Lease // of the night, nil outside of nights
	// Owned is called once the skill is locked for this process, before
	// anything else is read or spent; nil for nothing.
	Owned func(context.Context) error
	// Approve is asked before the reading of corrections is paid for; nil approves.
	Approve func(*MiningForecast) error
}

// A Campaign is a prepared run.
type Campaign struct {
	Config Config
	Live   *skill.Live // with the text that the run began with
	// Settled is what became of a trial install when the run began; after Run, by its gate.
	Settled release.Settled
	// Resumed: an earlier process began it.
	Resumed bool
	// Notes qualify the result of the run.
	Notes []string

	runner  *Runner
	options Options
	back    *agent.Backends
	db      *store.Store
	run     *record.Run
	plan    search.Plan
	cases   []eval.Case
	beside  []neighbours.Neighbour
	// found are what Found returns.
	found []string
	// quoted are cases that the given text quotes, by id: they teach from now on.
	quoted map[string]eval.Split
	// forecast is nil before Forecast was called.
	forecast *Forecast
	// Locks and other resources of begin.
	budget *eval.Budget
	held   caps.Held         // caps that its owner has not chosen
	record *Record           // nil in a dry run
	unlock func()            // nil while the run is not locked
	locked *lock.Skill       // nil while the skill is not locked
	miner  *readlimit.Reader // nil before it is asked
}

// Stored is the stored row of the run; nil before it has a name.
func (c *Campaign) Stored() *record.Run { return c.run }

// Cases are the cases that the run tries.
func (c *Campaign) Cases() []eval.Case { return c.cases }

// Found reports the results of the harvest and their effect on the run, a
// line each.
func (c *Campaign) Found() []string { return c.found }

// Budget is the run's spending and its caps; nil before it has one.
func (c *Campaign) Budget() *eval.Budget { return c.budget }

// Incumbent is the text that the run tries to improve.
func (c *Campaign) Incumbent() eval.Variant { return c.plan.Incumbent }

// UsesTools reports whether the run's agent works in a folder.
func (c *Campaign) UsesTools() bool { return c.back.UsesTools() }

// Close releases locks, folders for temporary files, and the clock.
func (c *Campaign) Close() {
	if c == nil {
		return
	}
	_ = c.back.Close() // what stays behind does no harm
	c.record.Close()
	if c.unlock != nil {
		c.unlock()
	}
	c.locked.Unlock()
}

// A StoppedError is what ended a run, or a comparison, early. Everything measured is
// saved.
type StoppedError struct {
	Run string
	Err error
}

func (e *StoppedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StoppedError) Unwrap() error { return e.Err }

// Run searches, puts what it found before the gate, and writes the challenger's text
// to the data folder. Errors: *StoppedError, *HeldError, and those of the result.
func (c *Campaign) Run(ctx context.Context) (*Result, error) {
	if len(c.quoted) > 0 {
		if err := c.db.SetSplits(ctx, c.Config.Skill, c.quoted); err != nil {
			return nil, err
		}
	}
	audit, view := &agent.Audited{}, c.runner.Watch(c.task())
	c.plan.OnEvent, c.plan.OnRollout = view.Event, func(r *eval.Rollout) { audit.Count(r); view.Rollout(r) }
	out, err := search.Improve(ctx, c.plan)
	view.Done()
	if err != nil {
		return nil, &StoppedError{c.run.ID, err}
	}
	if out.Held != "" {
		return nil, &HeldError{c.Config.Carried, out.Held, out.Spent}
	}
	out.Warnings = append(append(out.Warnings, audit.Warnings()...), c.back.Lacks(c.cases)...)
	res, err := c.result(ctx, out)
	if err != nil || out.Verdict == nil {
		return res, err
	}
	if err := c.probe(ctx, res); err != nil {
		return nil, &StoppedError{c.run.ID, err}
	}
	c.afterGate(ctx)
	return res, nil
}

// afterGate ends a trial install that the gate has decided on. What the run has found was
// paid for, and is reported if that fails: the next run or night tries it again.
func (c *Campaign) afterGate(ctx context.Context) {
	c.Settled = release.Settled{}
	live, err := c.runner.Layout.Live(c.Config.Skill)
	if err == nil && !live.HalfSaved() {
		err = c.settleTry(ctx, live)
	}
	if err != nil {
		c.Notes = append(c.Notes, "its trial install stays as it is for now: "+plain.Line(err.Error()))
	}
}

// task is the search, as its progress is shown.
func (c *Campaign) task() report.Task {
	t := report.Task{Phase: "search", Unit: "rollouts", Count: func() int64 { return c.budget.Spent().Rollouts },
		Budget: c.budget, Caps: c.Config.Caps(), Bound: true}
	if fc := c.forecast; fc != nil {
		t.Total, t.Expect = fc.Rollouts, time.Duration(fc.Minutes*float64(time.Minute))
	}
	if c.Config.Carried != "" {
		t.Phase = "trial"
	}
	if c.Resumed {
		t.Since = c.run.Started
	}
	if c.options.Night {
		t.Of = c.Config.Skill
	}
	return t
}
