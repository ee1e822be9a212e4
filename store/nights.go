package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// A SleepLease is the right to run a cycle of the nights. It belongs to Owner
// until it expires; whoever takes it next has a higher Generation.
type SleepLease struct {
	Owner      string // "" where nobody has it
	Generation int64
	Expires    time.Time
}

// A LeaseHeldError says that somebody else has the lease.
type LeaseHeldError struct{ Lease SleepLease }

func (e *LeaseHeldError) Error() string {
	return fmt.Sprintf("%s has the lease until %s", e.Lease.Owner, e.Lease.Expires.Format(time.DateTime))
}

// ErrLeaseLost says that a write came from an owner whose lease was taken over.
var ErrLeaseLost = errors.New("the lease was taken over")

// TakeSleepLease gives the lease to owner until the given time where it is free,
// expired at now, owner's already, or its owner is dead. Errors: *LeaseHeldError.
func (s *Store) TakeSleepLease(ctx context.Context, owner string, now, until time.Time, dead func(owner string) bool) (SleepLease, error) {
	var l SleepLease
	err := s.do(ctx, func(t *tx) error {
		var expires int64
		if _, err := t.row(`SELECT owner, generation, expires FROM sleep_lease`, nil, &l.Owner, &l.Generation, &expires); err != nil {
			return err
		}
		l.Expires = time.UnixMicro(expires).UTC()
		if l.Owner != "" && l.Owner != owner && now.Before(l.Expires) && !dead(l.Owner) {
			return &LeaseHeldError{l}
		}
		l = SleepLease{owner, l.Generation + 1, until.UTC()}
		_, err := t.exec(`UPDATE sleep_lease SET owner = ?, generation = ?, expires = ?`, owner, l.Generation, until.UnixMicro())
		return err
	})
	if err != nil {
		return SleepLease{}, fmt.Errorf("take the lease of the nights: %w", err)
	}
	return l, nil
}

// RenewSleepLease moves the end of a lease that is still l's owner's. Errors:
// ErrLeaseLost.
func (s *Store) RenewSleepLease(ctx context.Context, l SleepLease, until time.Time) error {
	return s.underLease(ctx, "renew the lease of the nights", l.Generation, func(t *tx) error {
		_, err := t.exec(`UPDATE sleep_lease SET expires = ?`, until.UnixMicro())
		return err
	})
}

// ReleaseSleepLease gives a lease back. Errors: ErrLeaseLost.
func (s *Store) ReleaseSleepLease(ctx context.Context, l SleepLease) error {
	return s.underLease(ctx, "release the lease of the nights", l.Generation, func(t *tx) error {
		_, err := t.exec(`UPDATE sleep_lease SET owner = ''`)
		return err
	})
}

// underLease writes in the name of a lease's generation.
func (s *Store) underLease(ctx context.Context, what string, generation int64, f func(*tx) error) error {
	err := s.do(ctx, func(t *tx) error {
		var now int64
		if _, err := t.row(`SELECT generation FROM sleep_lease`, nil, &now); err != nil {
			return err
		}
		if now != generation {
			return ErrLeaseLost
		}
		return f(t)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// SleepLeaseNow is the lease as it stands.
func (s *Store) SleepLeaseNow(ctx context.Context) (l SleepLease, err error) {
	_, err = query(ctx, s, func(rows *sql.Rows) (struct{}, error) {
		var expires int64
		err := rows.Scan(&l.Owner, &l.Generation, &expires)
		l.Expires = time.UnixMicro(expires).UTC()
		return struct{}{}, err
	}, `SELECT owner, generation, expires FROM sleep_lease`)
	if err != nil {
		return l, fmt.Errorf("read the lease of the nights: %w", err)
	}
	return l, nil
}

// SaveNight keeps a night, in the place of what was kept under its id. Errors:
// ErrLeaseLost.
func (s *Store) SaveNight(ctx context.Context, generation int64, id string, began time.Time, body json.RawMessage) error {
	return s.underLease(ctx, "save night "+id, generation, func(t *tx) error {
		_, err := t.exec(`INSERT INTO nights (id, began, body) VALUES (?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET body = excluded.body`, id, began.UnixMicro(), string(body))
		return err
	})
}

// Nights returns the bodies of the newest nights, the newest first; 0 is all.
func (s *Store) Nights(ctx context.Context, limit int) ([]json.RawMessage, error) {
	if limit <= 0 {
		limit = -1
	}
	bodies, err := query(ctx, s, scanBody[json.RawMessage], `SELECT body FROM nights ORDER BY began DESC, id DESC LIMIT ?`, limit)
	if err != nil {
		return nil, fmt.Errorf("list nights: %w", err)
	}
	return bodies, nil
}

// SaveSleepState keeps what a skill's nights have in common. Errors:
// ErrLeaseLost.
func (s *Store) SaveSleepState(ctx context.Context, generation int64, skill string, body json.RawMessage) error {
	return s.underLease(ctx, "save the nights of "+skill, generation, func(t *tx) error {
		_, err := t.exec(`INSERT INTO sleep_states (skill, body) VALUES (?, ?)
			ON CONFLICT (skill) DO UPDATE SET body = excluded.body`, skill, string(body))
		return err
	})
}

// SleepState returns what SaveSleepState kept, nil for nothing.
func (s *Store) SleepState(ctx context.Context, skill string) (json.RawMessage, error) {
	bodies, err := query(ctx, s, scanBody[json.RawMessage], `SELECT body FROM sleep_states WHERE skill = ?`, skill)
	if err != nil {
		return nil, fmt.Errorf("read the nights of %s: %w", skill, err)
	}
	if len(bodies) == 0 {
		return nil, nil
	}
	return bodies[0], nil
}
