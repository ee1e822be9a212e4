package main

import (
	"cmp"
	"context"

	"github.com/skill-evolve/evolve/store/datadir"
)

// expireText removes the text of sessions whose time is over, after a harvest, a run or a
// night. Cases of all skills are made first: a run mines one alone.
func expireText(ctx context.Context, a *global, headless bool) (int, error) {
	if a.open.db == nil || a.machine.clock == nil || a.access != datadir.Writes {
		return 0, nil
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
