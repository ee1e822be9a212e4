package sleep

import (
	"context"
	"errors"
)

// place puts a challenger in place on trial, if there is one that may be.
func (c *Cycle) place(ctx context.Context, n *Night, s *Step) error {
	if s.Stage == Planned {
		s.Stage, s.Began = Begun, c.Now().UTC()
		if err := c.save(ctx, n, s); err != nil {
			return err
		}
	}
	placed, err := c.Parts.Place(ctx, Task{Kind: Try, Skill: s.Skill, Caps: n.spare(), Lease: c.held})
	s.Spent = s.Spent.Plus(placed.Spent)
	var hopeless *Hopeless
	switch {
	case errors.As(err, &hopeless):
		s.Note = "not put in place: " + hopeless.Error()
		return c.end(ctx, n, s, Failed)
	case err != nil:
		return c.trouble(ctx, n, s, s.Spent, err)
	}
	if s.Note = placed.Note; !placed.Done {
		return c.end(ctx, n, s, Skipped)
	}
	return c.end(ctx, n, s, Done)
}

// settle keeps a trial install that was proved and takes back one whose time is over; the
// step tells of it. If its skill or folder does not let it, the rest of the night goes on.
func (c *Cycle) settle(ctx context.Context, n *Night, skill string) ([]Step, error) {
	s := Step{Kind: Try, Skill: skill, Stage: Done, Began: c.Now().UTC()}
	placed, err := c.Parts.Settle(ctx, Task{Kind: Try, Skill: skill, Caps: n.spare(), Lease: c.held})
	s.Note, s.Spent = placed.Note, placed.Spent
	var hopeless *Hopeless
	var overtaken *Overtaken
	switch {
	case errors.As(err, &hopeless):
		s.Stage, s.Note = Failed, "its trial install stays as it is: "+hopeless.Error()
	case errors.As(err, &overtaken):
		s.Stage, s.Note = Skipped, overtaken.Why
	case err != nil:
		return nil, err
	case s.Note == "":
		return nil, nil
	}
	s.Ended = c.Now().UTC()
	return []Step{s}, nil
}
