package sleep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store/lock"
)

// A Cycle runs nights.
type Cycle struct {
	Parts   Parts
	Journal Journal
	Now     func() time.Time
	// Owner names this process; Dead reports whether another owner is
	// certainly gone. If Dead is nil, only the end of the lease shows that.
	Owner string
	Dead  func(owner string) bool
	// Lease is how long a process holds the cycle without renewing its lease;
	// 0 is two minutes.
	Lease time.Duration
	// Demo: the folders are evolve's own, in which simulated evidence may
	// install.
	Demo bool
	// Rollback: an alarm rolls the version back, by the owner's explicit
	// choice.
	Rollback bool
	// RunID names a new run.
	RunID func() string
	// OnStep is called at every change of a step; it may be nil.
	OnStep func(*Night, *Step)
	// OnResume is called with a continued night, bounded by the present
	// request; it may be nil.
	OnResume func(*Night)

	held *lock.Lease // while it runs
}

// A Plan is what a night was asked to do.
type Plan struct {
	Policy Policy
	Tries  bool // put promising challengers in place on trial
	Caps   Caps
	Skills []string // none: all
	// Dry harvests nothing and spends nothing: the night ends once it is
	// planned, and is not kept. If a night was not ended, it plans the rest
	// of that.
	Dry bool
}

// Limits of attempts. A step that fails for a reason beyond its own task is
// tried again by the next process. One whose process is killed or interrupted
// is tried more often: a laptop that is closed every morning does no harm,
// but a step that takes all memory must not block the others for ever.
const (
	tries  = 3
	starts = 20
)

// Run runs one night, or continues one that was not ended: then under the
// smaller of its own caps and p's, the stricter policy, and for p's skills
// alone. The night is returned even with an error, if there is one. Errors:
// *HeldError, lock.ErrLost, the parts', ctx's.
func (c *Cycle) Run(ctx context.Context, p Plan) (*Night, error) {
	if p.Dry {
		return c.dry(ctx, p)
	}
	lease, stop, err := c.hold(&ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	n, err := c.Journal.LastNight(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the last night: %w", err)
	}
	if n == nil || !n.Ended.IsZero() {
		n = c.begin(p, n)
		n.ID += fmt.Sprintf("-%d", lease.Generation) // two may begin within a second
	} else {
		n.TakenOver++
		n.freshen(c.Now())
		if err := c.narrow(ctx, n, p); err != nil {
			return n, err
		}
		if c.OnResume != nil {
			c.OnResume(n)
		}
	}
	n.Generation = lease.Generation
	if err := c.walk(ctx, n); err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, lock.ErrLost) {
			err = cause
		}
		return n, err
	}
	if err := n.unfinished(); err != nil {
		return n, err
	}
	if err := c.account(ctx, n); err != nil {
		return n, err
	}
	n.Ended = c.Now().UTC()
	return n, c.save(ctx, n, nil)
}

// begin is a new night after last, nil for the first.
func (c *Cycle) begin(p Plan, last *Night) *Night {
	now := c.Now().UTC()
	n := &Night{Schema: 1, ID: now.Format("20060102-150405"), Policy: p.Policy, Tries: p.Tries, Caps: p.Caps, Skills: p.Skills, Began: now, Steps: []Step{}}
	if last != nil {
		n.Round = last.Round
	}
	return n
}

// walk does the open steps of a night.
func (c *Cycle) walk(ctx context.Context, n *Night) error {
	if len(n.Steps) == 0 {
		n.Steps = append(n.Steps, Step{Kind: Harvest, Stage: Begun, Began: c.Now().UTC()})
	}
	if s := &n.Steps[0]; s.open() {
		if err := c.save(ctx, n, s); err != nil {
			return err
		}
		var err error
		if n.Sessions, s.Note, err = c.Parts.Harvest(ctx); err != nil {
			return fmt.Errorf("harvest: %w", err)
		}
		if err := c.end(ctx, n, s, Done); err != nil {
			return err
		}
	}
	if !n.Settled {
		n.unplan() // half a plan is made again
		if err := c.plan(ctx, n); err != nil {
			return err
		}
		if err := c.save(ctx, n, nil); err != nil {
			return err
		}
	}
	for i := range n.Steps { // what a killed process was about to install
		if n.Steps[i].Kind == Install {
			if err := c.step(ctx, n, i); err != nil {
				return err
			}
		}
	}
	if err := c.serve(ctx, n); err != nil {
		return err
	}
	if c.Parts.Edits == nil {
		return nil
	}
	// Edits are found whenever a skill is read: the process that ends the
	// night reports all of them once.
	steps, err := c.Parts.Edits(ctx, n.Began)
	if err != nil {
		return fmt.Errorf("read what was edited: %w", err)
	}
	n.Steps = append(n.Steps, steps...)
	return nil
}

// serve does the open steps, as long as the budget carries one that waits: it
// may use what the others have not used.
func (c *Cycle) serve(ctx context.Context, n *Night) error {
	for served := true; served; { // each turn but the last ends at least one of them
		if err := ctx.Err(); err != nil {
			return err
		}
		served = false
		for i := range n.Steps { // further installs are appended, and done, on the way
			was := n.Steps[i].open()
			if err := c.step(ctx, n, i); err != nil {
				return err
			}
			served = served || was && !n.Steps[i].open()
		}
	}
	left, _ := n.left()
	for i := range n.Steps {
		if s := &n.Steps[i]; s.open() && s.aside == nil {
			s.wait(left, n.Caps)
			if err := c.end(ctx, n, s, Waits); err != nil {
				return err
			}
		}
	}
	return nil
}

// step does one open step; one that the budget does not carry stays open.
func (c *Cycle) step(ctx context.Context, n *Night, i int) error {
	s := &n.Steps[i]
	if !s.open() || s.aside != nil {
		return nil
	}
	switch s.Kind {
	case Watch:
		return c.watch(ctx, n, s)
	case Continue, Search:
		return c.try(ctx, n, i)
	case Compare:
		return c.compare(ctx, n, i)
	case Certify: // begun by an older evolve
		s.Note = "no longer done: versions are compared instead"
		return c.end(ctx, n, s, Skipped)
	case Install:
		return c.install(ctx, n, s)
	case Try:
		return c.place(ctx, n, s)
	}
	return nil
}

// watch reports an alarm once, and rolls the version back if its owner has
// chosen that.
func (c *Cycle) watch(ctx context.Context, n *Night, s *Step) error {
	st, err := c.state(ctx, s.Skill)
	if err != nil {
		return err
	}
	if s.Stage == Planned {
		if !s.Alarm.Raised() || slices.Contains(st.Alarmed, s.Alarm.Version) {
			return c.end(ctx, n, s, Done)
		}
		// From here on this night reports it, whichever process ends the
		// night.
		s.Stage, s.Note, s.Began = Begun, "alarm: "+s.Alarm.String(), c.Now().UTC()
		if err := c.save(ctx, n, s); err != nil {
			return err
		}
	}
	note := c.takeBack(ctx, n, s.Alarm)
	if !slices.Contains(st.Alarmed, s.Alarm.Version) {
		st.Alarmed = append(st.Alarmed, s.Alarm.Version)
	}
	if err := c.saveState(ctx, n, st); err != nil {
		return err
	}
	s.Note += note
	return c.end(ctx, n, s, Done)
}

// takeBack rolls a version back if its owner has chosen that, and reports it.
func (c *Cycle) takeBack(ctx context.Context, n *Night, a *Alarm) string {
	if !c.Rollback || c.Parts.Rollback == nil {
		return ""
	}
	note, err := c.Parts.Rollback(ctx, a)
	if err != nil {
		note = "not rolled back: " + err.Error()
	}
	for i := range n.Steps { // what they were planned for is no longer in place
		if k := &n.Steps[i]; k.Skill == a.Skill && k.Stage == Planned && k.Kind != Watch {
			k.Stage, k.Note = Skipped, "an alarm was raised tonight"
		}
	}
	return "; " + note
}

// try continues a challenger's trial, or searches for a challenger.
func (c *Cycle) try(ctx context.Context, n *Night, i int) error {
	s := &n.Steps[i]
	r, ok, err := c.attempt(ctx, n, i, func(t Task) (Result, error) { return c.Parts.Try(ctx, t) })
	if !ok || err != nil {
		return err
	}
	st, err := c.state(ctx, s.Skill)
	if err != nil {
		return err
	}
	began := s.Level
	if r.Round != s.Round { // it started again: one trial more
		began = cmp.Or(s.Anew, s.Level)
	}
	st.Judge(s.Run, began, &r)
	more := st.tell(n, s, &r)
	if err := c.saveState(ctx, n, st); err != nil {
		return err
	}
	level := st.Level(r.Incumbent, r.Challenger, r.Round)
	s.Result, s.Note = &r, r.words()+more
	if r.Settled != "" {
		s.Note += "; " + r.Settled
	}
	next := r.Decision == pareto.Promote && r.Settled == "" // what is in place on trial stays there
	if r.Decision.IsOpen() && n.Tries && c.Parts.Place != nil {
		n.Steps, next = append(n.Steps, Step{Kind: Try, Skill: s.Skill, Stage: Planned}), true
		s = &n.Steps[i]
	} else if next {
		in := Step{Kind: Install, Skill: s.Skill, Run: s.Run, Level: level, Stage: Planned, Result: &r}
		if ok, why := n.Policy.MayInstall(&r, level, c.Demo); !ok {
			in.Stage, in.Note, in.Ended = Skipped, why, c.Now().UTC()
		}
		n.Steps = append(n.Steps, in) // saved together with the end of this step
		s = &n.Steps[i]
	}
	if err := c.end(ctx, n, s, Done); err != nil || !next {
		return err
	}
	return c.step(ctx, n, len(n.Steps)-1)
}

// attempt does a step that takes from the budget; false if it is over, or err
// is why not.
func (c *Cycle) attempt(ctx context.Context, n *Night, i int, do func(Task) (Result, error)) (r Result, ok bool, err error) {
	s := &n.Steps[i]
	if going, err := c.start(ctx, n, i); !going || err != nil {
		return r, false, err
	}
	r, err = do(Task{Kind: s.Kind, Skill: s.Skill, Part: s.Part, Run: s.Run, Incumbent: s.Live, Caps: s.Caps, Level: cmp.Or(s.Anew, s.Level), Lease: c.held})
	before := s.Spent
	s.Spent, s.Assumed, s.Warnings = atLeast(r.Spent, s.Spent), r.Assumed, r.Warnings
	if err != nil {
		return r, false, c.trouble(ctx, n, s, before, err)
	}
	n.met, s.Trouble = met{}, ""
	return r, true, nil
}

// start begins a step that costs something, or begins it again; false if it
// is over, or err is why not.
func (c *Cycle) start(ctx context.Context, n *Night, i int) (going bool, err error) {
	s := &n.Steps[i]
	if s.Errors >= tries || s.Attempts >= starts {
		s.Note = fmt.Sprintf("given up after %d attempts: %s", s.Attempts, s.Note)
		return false, c.fail(ctx, n, s)
	}
	if s.Stage == Planned {
		left, ok := n.left()
		if !ok {
			return false, nil
		}
		if s.Caps, ok = Portion(left, n.Caps, openPaid(n.Steps[i:])); !ok {
			return false, nil
		}
		s.Stage, s.Run, s.Began = Begun, c.RunID(), c.Now().UTC()
	} else if !n.rebound(s) {
		s.Note = "the night's budget is used up; " + s.Note
		return false, c.end(ctx, n, s, Skipped)
	}
	s.Attempts++
	return true, c.save(ctx, n, s)
}

// trouble ends a step that failed, if nothing can be done about it or the
// trouble may be its own; any other error ends this process's part of the
// night. before is what was spent before the step began this time.
func (c *Cycle) trouble(ctx context.Context, n *Night, s *Step, before eval.Spent, err error) error {
	var own *Trouble
	var hopeless *Hopeless
	var overtaken *Overtaken
	if errors.As(err, &overtaken) {
		s.Note = overtaken.Why
		return c.end(ctx, n, s, Skipped)
	}
	if errors.As(err, &hopeless) {
		s.Note = hopeless.Error()
		return c.fail(ctx, n, s)
	}
	if errors.As(err, &own) && ctx.Err() == nil {
		return c.troubled(ctx, n, s, own, before)
	}
	if ctx.Err() == nil { // an interruption is no failure
		s.Note = err.Error()
		s.Errors++
	}
	return errors.Join(fmt.Errorf("%s %s: %w", s.Kind, s.Skill, err), c.save(context.WithoutCancel(ctx), n, s))
}

// fail ends a step without a result: it counts as the skill's turn.
func (c *Cycle) fail(ctx context.Context, n *Night, s *Step) error {
	if err := c.update(ctx, n, s.Skill, func(st *State) { st.Served = s.Began }); err != nil {
		return err
	}
	return c.end(ctx, n, s, Failed)
}

// install installs a proved challenger.
func (c *Cycle) install(ctx context.Context, n *Night, s *Step) error {
	if s.Stage == Planned {
		// A proof from outside of the nights is a trial of this lifetime from
		// now on; a trial that the nights have judged already counts once.
		if err := c.update(ctx, n, s.Skill, func(st *State) { st.Judge(s.Run, s.Level, s.Result) }); err != nil {
			return err
		}
		s.Stage, s.Began = Begun, c.Now().UTC()
	} else if s.Errors >= tries || s.Attempts >= starts {
		s.Note = fmt.Sprintf("not installed: given up after %d attempts: %s", s.Attempts, s.Note)
		return c.end(ctx, n, s, Failed)
	}
	s.Attempts++
	if err := c.save(ctx, n, s); err != nil {
		return err
	}
	placed, err := c.Parts.Install(ctx, Task{Kind: Install, Skill: s.Skill, Run: s.Run, Caps: n.spare(), Level: s.Level, Lease: c.held}, *s.Result)
	s.Spent = s.Spent.Plus(placed.Spent)
	var hopeless *Hopeless
	var overtaken *Overtaken
	switch {
	case errors.As(err, &overtaken):
		s.Note, s.Result = "not installed: "+overtaken.Why, nil // it waits for nobody
		return c.end(ctx, n, s, Skipped)
	case errors.As(err, &hopeless):
		s.Note = "not installed: " + hopeless.Error()
		return c.end(ctx, n, s, Failed)
	case err != nil:
		return c.trouble(ctx, n, s, s.Spent, err)
	}
	if s.Note = placed.Note; !placed.Done {
		return c.end(ctx, n, s, Skipped)
	}
	return c.end(ctx, n, s, Done)
}

func (r *Result) words() string {
	if r.Decision == "" {
		if r.Reason != "" {
			return r.Reason
		}
		if r.Stopped {
			return fmt.Sprintf("its share of the budget ended (%s, after %s) before anything beat the installed text",
				cmp.Or(r.StoppedBy, "a cap"), rollouts(r.Spent.Rollouts))
		}
		return "nothing beat the installed text"
	}
	said := fmt.Sprintf("%s: %s", pareto.Answer(r.Decision, r.Route), r.Reason)
	if r.Stopped && r.Decision.IsOpen() {
		said += fmt.Sprintf("; its share of the budget ended (%s), the trial goes on", cmp.Or(r.StoppedBy, "a cap"))
	}
	if r.Restarted != "" {
		said = r.Restarted + "; " + said
	}
	return said
}
