package main

import (
	"context"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// A reader says where everything stands, and changes nothing.
type reader struct {
	Store   *store.Store // nil while there is none
	Layout  *skill.Layout
	Locks   lock.Locks
	Now     func() time.Time
	Demo    bool
	Release *release.Installer
	// Timer is what starts the next night, and when; "" for nothing.
	Timer func(ctx context.Context) (kind string, next time.Time, err error)
}

// reader is that of this person's skills and store.
func (a *app) reader(ctx context.Context) (*reader, error) {
	db, err := a.existingStore(ctx)
	if err != nil {
		return nil, err
	}
	k, err := a.locks()
	if err != nil {
		return nil, err
	}
	return &reader{Store: db, Layout: a.layout(), Locks: k, Now: a.Now, Demo: a.isDemo(), Release: a.installer(db),
		Timer: func(ctx context.Context) (string, time.Time, error) {
			t, err := a.timers().Installed(ctx)
			if err != nil || t == nil {
				return "", time.Time{}, err
			}
			return t.Kind, nextAt(a.Now(), t.Hour, t.Minute), nil
		}}, nil
}

func (a *app) gatherStatus(ctx context.Context) (*statusReport, error) {
	rd, err := a.reader(ctx)
	if err != nil {
		return nil, err
	}
	return rd.gatherStatus(ctx)
}

func (a *app) findRun(ctx context.Context, db *store.Store, name string) (string, error) {
	return (&reader{}).findRun(ctx, db, name)
}

func (a *app) statusNow(r *tournament.Run) (tournament.RunStatus, error) {
	k, err := a.locks()
	if err != nil {
		return "", err
	}
	return (&reader{Locks: k}).statusNow(r)
}

func (a *app) reportModel(ctx context.Context, db *store.Store, name string) (*report.Model, error) {
	rd, err := a.reader(ctx)
	if err != nil {
		return nil, err
	}
	return rd.reportModel(ctx, db, name)
}

func (a *app) night(ctx context.Context, db *store.Store, name string) (*nightReport, error) {
	rd, err := a.reader(ctx)
	if err != nil {
		return nil, err
	}
	return rd.night(ctx, db, name)
}

func (a *app) retirements(ctx context.Context, db *store.Store) ([]retirement, error) {
	rd, err := a.reader(ctx)
	if err != nil {
		return nil, err
	}
	return rd.retirements(ctx, db)
}

func (a *app) waitingNow(ctx context.Context, db *store.Store, n *sleep.Night) ([]string, int, error) {
	rd, err := a.reader(ctx)
	if err != nil {
		return nil, 0, err
	}
	return rd.waitingNow(ctx, db, n)
}
