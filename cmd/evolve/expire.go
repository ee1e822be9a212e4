package main

import (
	"context"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
)

// expireText removes the text of sessions whose time is over, after a harvest or a night,
// and says how many there were. mine: cases of some skills are not made yet.
func expireText(ctx context.Context, a *global, headless, mine bool) (int, error) {
	db := a.open.db
	if db == nil || a.machine.clock == nil || a.access != datadir.Writes || a.isDemo() {
		return 0, nil
	}
	conf, err := a.config()
	if err != nil {
		return 0, err
	}
	limit := 0
	if p, err := a.machine.fixed(); err != nil {
		return 0, err
	} else if p != nil {
		limit = p.KeepDays
	}
	keep, err := conf.Retention(a.layout(), limit)
	if err != nil {
		return 0, err
	}
	p, err := purgerOf(a, db)
	if err != nil {
		return 0, err
	}
	now := a.machine.clock()
	e := &ingest.Expirer{Store: db, Before: keep.Before(now),
		Busy: func(run string) bool {
			busy, err := p.Locks.Running(run)
			return busy || err != nil
		},
		Files: func(ctx context.Context, x store.Expiry) error { return p.Files(ctx, x, keep.Oldest(now)) }}
	if mine {
		e.Mine = func(ctx context.Context) error {
			_, err := mineAll(ctx, a, db, "", headless)
			return err
		}
	}
	done, err := e.Expire(ctx)
	if err != nil {
		return 0, err
	}
	if n := done.Sessions; n > 0 {
		a.Say("the text of %s has expired; counts, labels and cases stay", plain.Counted(n, "session"))
	}
	if done.Unwritten != nil {
		a.Say("expired text is not overwritten on disk yet, the next harvest tries again: %v", done.Unwritten)
	}
	return done.Sessions, nil
}

// mineAll makes cases, without a model, of all skills, or of one.
func mineAll(ctx context.Context, a *global, db *store.Store, only string, headless bool) ([]ingest.SkillCases, error) {
	reg, err := a.layout().Registry()
	if err != nil {
		return nil, err
	}
	g, err := a.ingester(db)
	if err != nil {
		return nil, err
	}
	return g.MineAll(ctx, reg, only, headless, func(ctx context.Context, live *skill.Live) (bool, error) {
		trial, err := openTrialOf(ctx, a, db, live, skill.Harness)
		return trial != nil, err
	})
}
