package main

import (
	"cmp"
	"context"
	"errors"

	"github.com/skill-evolve/evolve/store/datadir"
)

// expireText removes the text of sessions whose time is over, after a harvest, a run or a
// night. Cases of all skills are made first: a run mines one alone.
func expireText(ctx context.Context, a *global, headless bool) (int, error) {
	if a.machine.clock == nil || a.access != datadir.Writes {
		return 0, nil
	}
	if db, err := a.existingStore(ctx); db == nil {
		return 0, err
	}
	conf, err := a.config()
	fixed, e := a.machine.fixed()
	if err = cmp.Or(err, e); err != nil || fixed == nil && a.isDemo() {
		return 0, err
	}
	keep, err := conf.Retention(a.layout(), fixed, a.machine.clock())
	if err != nil {
		return 0, err
	}
	if ok, err := a.open.db.Believes(ctx, a.machine.clock()); err != nil || !ok {
		if !ok && err == nil {
			a.Say("the clock is more than 30 days ahead of the last harvest: no text expires before tomorrow")
		}
		return 0, err
	}
	p, err := purgerOf(a, a.open.db)
	if err != nil {
		return 0, err
	}
	return p.Expire(ctx, keep, func(ctx context.Context) error {
		_, err := mineAll(ctx, a, a.open.db, "", headless)
		return err
	})
}

// expireAnyway is expireText for a harvest or a night that failed, because its owner has
// not decided on projects, or for another reason: what is stored expires all the same. It
// returns err.
func expireAnyway(ctx context.Context, a *global, headless bool, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	if _, e := expireText(ctx, a, headless); e != nil && e.Error() != err.Error() {
		return errors.Join(err, e)
	}
	return err
}
