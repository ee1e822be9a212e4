package campaign

import (
	"context"
	"errors"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/tournament/record"
)

func (r *Runner) locks() lock.Locks { return lock.Locks{Dir: r.Dir, Now: r.Now} }

// lockSkill locks the run's part of its skill for this process.
func (c *Campaign) lockSkill(ctx context.Context) (err error) {
	if c.options.DryRun {
		return nil
	}
	if c.locked, err = c.runner.locks().Skill(ctx, c.Config.Skill, lockedPart(c.Config.Evolve), c.options.Lease); err != nil || c.options.Owned == nil {
		return err
	}
	return c.options.Owned(ctx)
}

// lockedPart is the part of a skill that a search with --evolve has for
// itself.
func lockedPart(evolves string) string {
	if evolves == skill.Description {
		return skill.Description
	}
	return skill.Harness
}

// chooseID names a new run. A run of the same skill whose process ended while
// it read corrections has no row from which it could be resumed. The same
// command continues it under its name, so that nothing is read twice and what
// it spent counts.
func (c *Campaign) chooseID(ctx context.Context) (string, error) {
	if c.options.Run != "" {
		return c.options.Run, nil
	}
	if c.options.DryRun || !c.mines() {
		return record.NewID(c.runner.Now()), nil
	}
	id, err := c.db.BegunRun(ctx, c.Config.Skill)
	if err != nil {
		return "", err
	}
	if id != "" {
		if busy, err := c.runner.locks().Running(id); err != nil {
			return "", err
		} else if !busy {
			return id, nil
		}
	}
	id = record.NewID(c.runner.Now())
	return id, c.db.BeginRun(ctx, c.Config.Skill, id)
}

// mines reports whether the run mines cases. Mined cases are about what a
// skill does once it is loaded; a description is tried on trigger cases,
// which come from the owner.
func (c *Campaign) mines() bool {
	return !c.options.NoHarvest && c.Config.Evolve != skill.Description
}

// begin locks a run for this process before anything is spent on it, charges
// its budget with what earlier processes spent, and records the time that it
// uses.
func (c *Campaign) begin(ctx context.Context) (err error) {
	if c.options.DryRun {
		return nil
	}
	if c.unlock, err = c.runner.locks().Run(ctx, c.run.ID, c.options.Lease); err != nil {
		return err
	}
	if err := c.locked.By(c.run.ID); err != nil {
		return err
	}
	if err := ChargeMining(ctx, c.db, c.run.ID, c.Config.Mined, c.budget); err != nil {
		return err
	}
	if err := c.back.Continue(ctx, c.run.ID); err != nil {
		return err
	}
	c.record, err = NewRecord(ctx, c.db, c.run.ID, c.budget, time.Duration(c.run.Spent.WallMS)*time.Millisecond, c.options.Lease)
	return err
}

// discard deletes the placeholder of a run that ended before its search
// began: what it read is stored, and the next command begins another run.
func (c *Campaign) discard(ctx context.Context, err error) error {
	if errors.As(err, new(*WaitingError)) || errors.As(err, new(*TooFewCasesError)) || errors.As(err, new(*eval.BudgetError)) {
		if e := c.db.DropBegun(ctx, c.run.ID); e != nil {
			return errors.Join(err, e)
		}
	}
	return err
}

// journal is the journal that records the run.
func (c *Campaign) journal() record.Journal {
	if c.record == nil {
		return runJournal{Journal: c.db.Journal(c.run.ID), lease: c.options.Lease}
	}
	return c.record.Journal()
}
