package main

import (
	"context"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/missed"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/status"
)

// reader reads the status of everything from a store, which may be nil.
func (a *global) reader(db *store.Store) (*status.Reader, error) {
	k, err := a.locks()
	if err != nil {
		return nil, err
	}
	in, err := a.installer(db)
	if err != nil {
		return nil, err
	}
	desk := a.projects(harvestFlags{})
	return &status.Reader{Store: db, Layout: a.layout(), Locks: k, Now: a.Now, Demo: a.isDemo(), Release: in, Undecided: desk.Undecided(),
		Named:   hookTests(a).Named,
		NotRead: func(ctx context.Context) (int, error) { return desk.Waiting(ctx, db) },
		Timer: func(ctx context.Context) (string, time.Time, error) {
			t, err := timersOf(a).Installed(ctx)
			if err != nil || t == nil {
				return "", time.Time{}, err
			}
			return t.Kind, nextAt(a.Now(), t.Hour, t.Minute), nil
		}}, nil
}

func gatherStatus(ctx context.Context, a *global) (*status.Report, error) {
	db, err := a.existingStore(ctx)
	if err != nil {
		return nil, err
	}
	rd, err := a.reader(db)
	if err != nil {
		return nil, err
	}
	r, err := rd.Status(ctx)
	if h, e := a.home(); err == nil && e == nil {
		if n := missed.Read(h); n != nil {
			r.Missed = n.Words()
		}
	}
	return r, err
}
