package sleep

import (
	"context"
	"errors"
	"fmt"
)

// ErrReplaced says that what was to be certified is not in place any more: the same
// night has installed another text, or its owner has.
var ErrReplaced = errors.New("the live text is another one by now")

// certify tries an installed version on the model of the night, and tells its
// owner what that came to: once, for the certificate is then closed.
func (c *Cycle) certify(ctx context.Context, n *Night, i int) error {
	s := &n.Steps[i]
	if s.Outcome != Worse { // else it was killed at what follows from it
		if going, err := c.start(ctx, n, i); !going || err != nil {
			return err
		}
		if done, err := c.examine(ctx, n, s); !done {
			return err
		}
	}
	if s.Outcome == Worse {
		if err := c.save(ctx, n, nil); err != nil {
			return err
		}
		note, err := c.takeBackWorse(ctx, n, s)
		if err != nil {
			return err
		}
		s = &n.Steps[i]
		s.Note += note
	}
	return c.end(ctx, n, s, Done)
}

// takeBackWorse rolls a version back that a certificate shows to be worse, where its
// owner has asked for that. One that gives better answers, at a price, is left to
// its owner: without it the answers would be worse.
func (c *Cycle) takeBackWorse(ctx context.Context, n *Night, s *Step) (string, error) {
	d := s.Drift
	st, err := c.Journal.State(ctx, s.Skill)
	if err != nil {
		return "", fmt.Errorf("read the nights of %s: %w", s.Skill, err)
	}
	if c.Rollback && d.certificate(st).Trade() {
		return "; not taken back: its answers are better", nil
	}
	return c.takeBack(ctx, n, &Alarm{Skill: s.Skill, Version: d.Version, Before: d.Previous, Since: s.Began}), nil
}

// examine lets the certificate go on, and keeps it; false where it could not, and
// the step is dealt with.
func (c *Cycle) examine(ctx context.Context, n *Night, s *Step) (done bool, err error) {
	st, err := c.Journal.State(ctx, s.Skill)
	if err != nil {
		return false, fmt.Errorf("read the nights of %s: %w", s.Skill, err)
	}
	d := s.Drift
	t := Task{Kind: s.Kind, Skill: s.Skill, Run: s.Run, Caps: s.Caps, Lease: c.held}
	r, err := c.Parts.Certify(ctx, t, *d, d.certificate(st))
	before := s.Spent
	s.Spent, s.Assumed, s.Warnings = atLeast(r.Spent, s.Spent), r.Assumed, r.Warnings
	if errors.Is(err, ErrReplaced) {
		s.Note = err.Error()
		return false, c.end(ctx, n, s, Skipped)
	}
	if err != nil {
		return false, c.trouble(ctx, n, s, before, err)
	}
	n.met, s.Trouble = met{}, ""
	k := r.Certificate
	k.Updated = s.Began
	st.certify(k, d.To)
	if err := c.Journal.SaveState(ctx, n.Generation, st); err != nil {
		return false, fmt.Errorf("save the nights of %s: %w", s.Skill, err)
	}
	s.Outcome, s.Lift, s.Note = k.Outcome, k.Lift, k.String()
	if r.Stop != "" && k.Outcome != Worse { // else that is all that matters
		s.Note += "; " + r.Stop
	}
	if k.Lift == NoLift {
		s.Note = "proposed for retirement: " + s.Note
	}
	if k.Outcome == Worse {
		s.Note = "alarm: " + s.Note
	}
	return true, nil
}
