package sleep

import (
	"context"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/store"
)

// Journal stores nights, and the common state of a skill's nights. Every
// method returns after its data is durable. Saving under a lease that was
// taken over is lock.ErrLost.
type Journal interface {
	// Acquire takes the lease for owner until the given time. It succeeds if
	// the lease is free, expired at now, owner's own, or dead reports that
	// its owner is gone; else the error is a *HeldError.
	Acquire(ctx context.Context, owner string, now, until time.Time, dead func(owner string) bool) (Lease, error)
	Renew(ctx context.Context, l Lease, until time.Time) error
	Release(ctx context.Context, l Lease) error

	// LastNight is the newest night, nil for none.
	LastNight(ctx context.Context) (*Night, error)
	SaveNight(ctx context.Context, n *Night) error
	State(ctx context.Context, skill string) (*State, error) // never nil without an error
	SaveState(ctx context.Context, generation int64, s *State) error
}

// A Lease is the right to run a cycle. Generation grows with every owner.
type Lease = store.SleepLease

// A HeldError says that a cycle is running.
type HeldError = store.LeaseHeldError

func (c *Cycle) state(ctx context.Context, skill string) (*State, error) {
	st, err := c.Journal.State(ctx, skill)
	if err != nil {
		return nil, fmt.Errorf("read the nights of %s: %w", skill, err)
	}
	return st, nil
}

func (c *Cycle) saveState(ctx context.Context, n *Night, st *State) error {
	if err := c.Journal.SaveState(ctx, n.Generation, st); err != nil {
		return fmt.Errorf("save the nights of %s: %w", st.Skill, err)
	}
	return nil
}

// update changes the state of a skill's nights.
func (c *Cycle) update(ctx context.Context, n *Night, skill string, change func(*State)) error {
	st, err := c.state(ctx, skill)
	if err != nil {
		return err
	}
	change(st)
	return c.saveState(ctx, n, st)
}

func (c *Cycle) end(ctx context.Context, n *Night, s *Step, stage Stage) error {
	s.Stage, s.Ended = stage, c.Now().UTC()
	return c.save(ctx, n, s)
}

func (c *Cycle) save(ctx context.Context, n *Night, s *Step) error {
	if err := c.Journal.SaveNight(ctx, n); err != nil {
		return fmt.Errorf("save the night: %w", err)
	}
	if s != nil && c.OnStep != nil {
		c.OnStep(n, s)
	}
	return nil
}
