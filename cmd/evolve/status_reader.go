package main

import (
	"context"
	"time"

	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
)

// reader is that of this person's skills and store.
func (a *global) reader(ctx context.Context) (*status.Reader, error) {
	db, err := a.existingStore(ctx)
	if err != nil {
		return nil, err
	}
	k, err := a.locks()
	if err != nil {
		return nil, err
	}
	return &status.Reader{Store: db, Layout: a.layout(), Locks: k, Now: a.Now, Demo: a.isDemo(), Release: a.installer(db),
		Timer: func(ctx context.Context) (string, time.Time, error) {
			t, err := timersOf(a).Installed(ctx)
			if err != nil || t == nil {
				return "", time.Time{}, err
			}
			return t.Kind, nextAt(a.Now(), t.Hour, t.Minute), nil
		}}, nil
}

func gatherStatus(ctx context.Context, a *global) (*status.Report, error) {
	rd, err := a.reader(ctx)
	if err != nil {
		return nil, err
	}
	return rd.Status(ctx)
}

func findRun(ctx context.Context, a *global, db *store.Store, name string) (string, error) {
	return (&status.Reader{}).FindRun(ctx, db, name)
}

func statusNow(a *global, r *tournament.Run) (tournament.RunStatus, error) {
	k, err := a.locks()
	if err != nil {
		return "", err
	}
	return (&status.Reader{Locks: k}).RunStatus(r)
}

func reportModel(ctx context.Context, a *global, db *store.Store, name string) (*report.Model, error) {
	rd, err := a.reader(ctx)
	if err != nil {
		return nil, err
	}
	return rd.RunReport(ctx, db, name)
}

func findNight(ctx context.Context, a *global, db *store.Store, name string) (*status.Night, error) {
	rd, err := a.reader(ctx)
	if err != nil {
		return nil, err
	}
	return rd.Night(ctx, db, name)
}

func openRetirements(ctx context.Context, a *global, db *store.Store) ([]status.Retirement, error) {
	rd, err := a.reader(ctx)
	if err != nil {
		return nil, err
	}
	return rd.Retirements(ctx, db)
}

func waitingNow(ctx context.Context, a *global, db *store.Store, n *sleep.Night) ([]string, int, error) {
	rd, err := a.reader(ctx)
	if err != nil {
		return nil, 0, err
	}
	return rd.WaitingNow(ctx, db, n)
}
