package sleep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/lock"
)

// Stored is the Journal in a store.
func Stored(db *store.Store) Journal { return stored{db} }

type stored struct{ db *store.Store }

var _ Journal = stored{}

// schema is the version of a Night's and a State's JSON.
const schema = 1

func (j stored) Acquire(ctx context.Context, owner string, now, until time.Time, dead func(string) bool) (Lease, error) {
	l, err := j.db.TakeSleepLease(ctx, owner, now, until, dead)
	if held, ok := errors.AsType[*HeldError](err); ok {
		err = held
	}
	return l, err
}

func (j stored) Renew(ctx context.Context, l Lease, until time.Time) error {
	return lost(j.db.RenewSleepLease(ctx, l, until))
}

func (j stored) Release(ctx context.Context, l Lease) error {
	return lost(j.db.ReleaseSleepLease(ctx, l))
}

func lost(err error) error {
	if errors.Is(err, store.ErrLeaseLost) {
		return lock.ErrLost // what it was about to write is of no use to anybody
	}
	return err
}

func (j stored) LastNight(ctx context.Context) (*Night, error) {
	ns, err := Nights(ctx, j.db, 1)
	if err != nil || len(ns) == 0 {
		return nil, err
	}
	return &ns[0], nil
}

// Nights reads the newest nights from a store, the newest first; 0 is all.
func Nights(ctx context.Context, db *store.Store, limit int) ([]Night, error) {
	bodies, err := db.Nights(ctx, limit)
	if err != nil {
		return nil, err
	}
	ns := make([]Night, len(bodies))
	for i, b := range bodies {
		if err := read(b, &ns[i], &ns[i].Schema); err != nil {
			return nil, fmt.Errorf("read night: %w", err)
		}
	}
	return ns, nil
}

func (j stored) SaveNight(ctx context.Context, n *Night) error {
	body, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("encode night: %w", err)
	}
	return lost(j.db.SaveNight(ctx, n.Generation, n.ID, n.Began, body))
}

func (j stored) State(ctx context.Context, skill string) (*State, error) {
	body, err := j.db.SleepState(ctx, skill)
	if err != nil {
		return nil, err
	}
	st := NewState(skill)
	if body != nil {
		if err := read(body, st, &st.Schema); err != nil {
			return nil, fmt.Errorf("read the nights of %s: %w", skill, err)
		}
	}
	return st, j.enter(ctx, st)
}

// enter adds every trial of the skill that the store knows.
func (j stored) enter(ctx context.Context, st *State) error {
	numbers, err := j.db.TrialNumbers(ctx, st.Skill)
	if err != nil || len(numbers) == 0 {
		return err
	}
	trials, err := j.db.Trials(ctx, st.Skill)
	if err != nil {
		return err
	}
	return st.Enter(numbers, trials)
}

func (j stored) SaveState(ctx context.Context, generation int64, st *State) error {
	body, err := json.Marshal(st)
	if err != nil {
		return fmt.Errorf("encode the nights of %s: %w", st.Skill, err)
	}
	return lost(j.db.SaveSleepState(ctx, generation, st.Skill, body, st.Lifetime.Rejected...))
}

func read(body []byte, into any, version *int) error {
	if err := json.Unmarshal(body, into); err != nil {
		return err
	}
	if *version != schema {
		return fmt.Errorf("it was written by a newer evolve (version %d)", *version)
	}
	return nil
}
