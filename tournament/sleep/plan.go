package sleep

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// plan looks at every skill and writes down what there is to do. Nothing is
// spent.
func (c *Cycle) plan(ctx context.Context, n *Night) error {
	names, err := c.Parts.Skills(ctx)
	if err != nil {
		return fmt.Errorf("list skills: %w", err)
	}
	var paid []Step
	for _, name := range names {
		if len(n.Skills) > 0 && !slices.Contains(n.Skills, name) {
			continue
		}
		steps, err := c.planFor(ctx, n, name)
		if err != nil {
			return err
		}
		for _, s := range steps {
			if s.paid() && s.open() {
				paid = append(paid, s)
			} else {
				n.Steps = append(n.Steps, s)
			}
		}
	}
	slices.SortStableFunc(paid, func(a, b Step) int { return cmp.Compare(b.Gain, a.Gain) })
	n.Steps, n.Settled = append(n.Steps, paid...), true
	return nil
}

// planFor is what there is to do about one skill.
func (c *Cycle) planFor(ctx context.Context, n *Night, name string) (steps []Step, err error) {
	o, err := c.Parts.Look(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", name, err)
	}
	if o.Unable != "" {
		return []Step{{Kind: Search, Skill: name, Stage: Skipped, Note: o.Unable}}, nil
	}
	if c.Parts.Watch != nil {
		a, err := c.Parts.Watch(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("watch %s: %w", name, err)
		}
		if a != nil && a.NewSessions > 0 {
			a.Skill = name
			steps = append(steps, Step{Kind: Watch, Skill: name, Stage: Planned, Alarm: a, Note: a.String()})
		}
	}
	st, err := c.Journal.State(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("read the nights of %s: %w", name, err)
	}
	need := NeedOf(o.Uses, o.Since, st.Searched, c.Now())
	if s := c.planCertify(&o, st); s != nil {
		s.Gain = need.Gain
		steps = append(steps, *s)
	}
	s := Step{Skill: name, Stage: Planned, Gain: need.Gain, Note: need.Why}
	switch {
	case o.Proved != nil:
		s = c.planInstall(n, &o, st)
	case o.Challenger != "" && o.Fresh > 0:
		s.Kind, s.Rollouts, s.Level = Continue, o.Rollouts, st.Level(o.Incumbent, o.Challenger)
		s.Note = fmt.Sprintf("challenger %.12s: %d fresh clusters", o.Challenger, o.Fresh)
	case o.Challenger != "":
		return steps, nil // waits for cases
	case need.Enough && o.Train > 0:
		s.Kind, s.Level = Search, st.Level(o.Incumbent, "")
	default:
		return steps, nil
	}
	return append(steps, s), nil
}

// planInstall picks up what was proved and staged, where nothing speaks against
// it any more; else it says what does.
func (c *Cycle) planInstall(n *Night, o *Outlook, st *State) Step {
	r := o.Proved.Result
	s := Step{Kind: Install, Skill: o.Skill, Run: o.Proved.Run, Level: st.Level(r.Incumbent, r.Challenger), Stage: Planned, Result: &r, Note: "proved before"}
	if ok, why := n.Policy.MayInstall(&r, s.Level, c.Demo); !ok {
		s.Stage, s.Note = Skipped, why
	}
	return s
}

// planCertify is the certification that a new model asks for, nil where there is
// none, or no case for it.
func (c *Cycle) planCertify(o *Outlook, st *State) *Step {
	d := o.Drift
	if d == nil || c.Parts.Certify == nil || !d.To.DriftedFrom(d.From) {
		return nil
	}
	now := st.Certificate(d.Version, d.Previous, d.To)
	cases := 0
	for name, n := range d.Clusters {
		if !now.Tried(name, "") {
			cases += n
		}
	}
	if now.Closed() || cases == 0 {
		return nil
	}
	return &Step{Kind: Certify, Skill: o.Skill, Stage: Planned, Drift: d, Rollouts: int64(cases * now.arms() * max(1, d.Tries)),
		Note: fmt.Sprintf("proved on %v, the agent is %v now: %d held-out cases", d.From, d.To, cases)}
}
