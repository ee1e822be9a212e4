package sleep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/splits"
)

// plan looks at every skill and plans its steps. Nothing is spent.
func (c *Cycle) plan(ctx context.Context, n *Night) error {
	names, err := c.Parts.Skills(ctx)
	if err != nil {
		return fmt.Errorf("list skills: %w", err)
	}
	n.Idle = nil // of a night that is planned anew
	var paid []Step
	served := map[string]time.Time{}
	for _, name := range names {
		if len(n.Skills) > 0 && !slices.Contains(n.Skills, name) {
			continue
		}
		if n.has(name) {
			continue // of a night that is planned anew
		}
		steps, at, err := c.planFor(ctx, n, name)
		var own *Trouble
		switch {
		case errors.As(err, &own) && ctx.Err() == nil:
			steps = []Step{{Kind: Search, Skill: name, Stage: Failed, Note: oneLine(own), Ended: c.Now().UTC()}}
		case err != nil:
			return err
		}
		if err := c.passBy(ctx, n, steps); err != nil {
			return err
		}
		served[name] = at
		for _, s := range steps {
			if s.paid() && s.open() {
				paid = append(paid, s)
			} else {
				n.Steps = append(n.Steps, s)
			}
		}
	}
	n.order(paid, served, c.Now().UTC())
	n.Steps, n.Settled = append(n.Steps, paid...), true
	n.troubledLast()
	return nil
}

// planFor plans the steps for one skill, and returns when it last had its
// turn.
func (c *Cycle) planFor(ctx context.Context, n *Night, name string) (steps []Step, served time.Time, err error) {
	if c.Parts.Settle != nil && !n.dry {
		if steps, err = c.settle(ctx, n, name); err != nil {
			return nil, served, fmt.Errorf("look at the trial install of %s: %w", name, err)
		}
	}
	o, err := c.Parts.Look(ctx, name)
	if err != nil {
		return nil, served, fmt.Errorf("look at %s: %w", name, err)
	}
	if o.Unable != "" {
		return append(steps, Step{Kind: Search, Skill: name, Stage: Skipped, Note: o.Unable}), served, nil
	}
	if c.Parts.Watch != nil {
		a, err := c.Parts.Watch(ctx, name)
		if err != nil {
			return nil, served, fmt.Errorf("watch %s: %w", name, err)
		}
		if a != nil && a.NewSessions > 0 {
			a.Skill = name
			steps = append(steps, Step{Kind: Watch, Skill: name, Stage: Planned, Alarm: a, Note: a.String()})
		}
	}
	st, err := c.state(ctx, name)
	if err != nil {
		return nil, served, err
	}
	st.unmark(c.Now())
	if o.Mined != "" && !n.dry {
		st.Mined = o.Mined
		if err := c.saveState(ctx, n, st); err != nil {
			return nil, served, err
		}
	}
	need := NeedOf(o.Uses, o.Since, st.searched(n.Caps), c.Now())
	if s := c.planCompare(&o, st); s != nil {
		steps = append(steps, *s)
	}
	s := Step{Skill: name, Live: o.Incumbent, Stage: Planned, Gain: need.Gain, Note: need.Why}
	described := planDescription(&o, st, need)
	idle := func(format string, args ...any) ([]Step, time.Time, error) {
		n.Idle = append(n.Idle, Idle{name, need.Uses > 0, fmt.Sprintf(format, args...)})
		return steps, st.Served, nil
	}
	switch {
	case o.Proved != nil && c.short(n, o.Proved, st):
		p := o.Proved
		s.Kind, s.Rollouts, s.Level = Continue, p.Rollouts, st.levelOf(&p.Result)
		s.Round, s.Anew = p.Result.Round, st.Next()
		s.Note = fmt.Sprintf("new text %.12s is better as a single trial, and not yet among all trials of this skill: its trial continues with %d fresh cases", p.Result.Challenger, p.Fresh)
	case o.Proved != nil:
		s = c.planInstall(n, &o, st)
	case o.Challenger != "" && o.Fresh > 0:
		s.Kind, s.Rollouts, s.Level = Continue, o.Rollouts, st.Level(cmp.Or(o.Base, o.Incumbent), o.Challenger, o.Round)
		s.Round, s.Anew = o.Round, st.Next()
		s.Note = fmt.Sprintf("new text %.12s: %s", o.Challenger, plain.Counted(o.Fresh, "fresh case"))
	case o.Challenger != "" && o.Unproven > 0:
		s.Kind, s.Stage = Continue, Skipped
		s.Note = fmt.Sprintf("new text %.12s: %s", o.Challenger, unproven(o.Unproven, o.Skill))
	case o.Challenger != "" && n.Tries && c.Parts.Place != nil && !o.Tried:
		// Nothing is to be paid for: what it has come to may suffice.
		steps = append(steps, Step{Kind: Try, Skill: name, Stage: Planned, Note: fmt.Sprintf("trial install of new text %.12s, if it is probably better", o.Challenger)})
		return idle("new text %.12s waits for fresh unseen requests", o.Challenger)
	case o.Challenger != "":
		// A new description would make it wait for ever.
		return idle("new text %.12s waits for fresh unseen requests", o.Challenger)
	case need.Enough && o.Train > 0 && o.Lack == splits.Lack{}:
		s.Kind, s.Level, s.Needs = Search, st.Next(), st.needs(o.Needs, n.Caps)
	case described != nil:
		s = *described
	case need.Uses == 0:
		return idle("no use %s", need.when)
	case !need.Enough:
		return idle("%s: a search begins at %d", need.Why, needFailures)
	case o.Lack != splits.Lack{}:
		return idle("%s, but a search waits for %v", need.Why, o.Lack)
	default:
		return idle("%s, but it has no training case", need.Why)
	}
	return append(steps, s), st.Served, nil
}

// planDescription plans work on the description, nil for none. One part of a
// skill is worked on at a time, the harness first: a proof against one text
// does not hold against another. The trials of both share the lifetime's
// error.
func planDescription(o *Outlook, st *State, need Need) *Step {
	t := o.Triggers
	if t == nil {
		return nil
	}
	// At best a new description saves so many uses a week.
	s := &Step{Skill: o.Skill, Live: o.Incumbent, Part: Description, Stage: Planned, Gain: need.Gain / need.Rate * float64(t.Misfired+1) / float64(t.Tried+2)}
	known := 0
	if st.Described.Description == t.Description {
		known = st.Described.Misfired
	}
	switch {
	case t.Challenger != "" && t.Fresh > 0:
		s.Kind, s.Rollouts, s.Level = Continue, t.Rollouts, st.Level(cmp.Or(t.Base, o.Incumbent), t.Challenger, t.Round)
		s.Round, s.Anew = t.Round, st.Next()
		s.Note = fmt.Sprintf("description %.12s: %s", t.Challenger, plain.Counted(t.Fresh, "fresh trigger case"))
	case t.Challenger == "" && t.Train > 0 && t.Misfired >= known+needFailures:
		s.Kind, s.Level, s.Needs = Search, st.Next(), t.Needs
		s.Described = Described{t.Description, t.Misfired}
		s.Note = fmt.Sprintf("the description misfired on %d of %d trigger cases", t.Misfired, t.Tried)
	default:
		return nil
	}
	return s
}

// planInstall picks up what was proved and staged; if something prevents that
// by now, the step has the reason.
func (c *Cycle) planInstall(n *Night, o *Outlook, st *State) Step {
	r := o.Proved.Result
	s := Step{Kind: Install, Skill: o.Skill, Run: o.Proved.Run, Level: st.levelOf(&r), Stage: Planned, Result: &r, Note: "found better before"}
	if ok, why := n.Policy.MayInstall(&r, s.Level, c.Demo); !ok {
		s.Stage, s.Note = Skipped, why
	}
	return s
}

// short reports whether only the level keeps this night from installing a
// proof, and there are cases to reach it with.
func (c *Cycle) short(n *Night, p *Proof, st *State) bool {
	may, _ := n.Policy.MayInstall(&p.Result, p.Result.Total, c.Demo)
	return may && p.Fresh > 0 && !p.Result.Proved(st.levelOf(&p.Result))
}

// unproven reports that so many held-out cases count for nothing.
func unproven(cases int, skill string) string {
	return fmt.Sprintf("%d unseen requests rest on a judge that is not shown to agree with you: they decide nothing; `evolve review %s` adds labels", cases, skill)
}
