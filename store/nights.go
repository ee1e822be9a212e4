package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store/sqlite"
)

// A SleepLease is the right to run a cycle of the nights. It belongs to Owner until it
// expires; the next owner gets a higher Generation.
type SleepLease struct {
	Owner      string // "" if it is free
	Generation int64
	Expires    time.Time
}

// A LeaseHeldError means that another owner has the lease.
type LeaseHeldError struct{ Lease SleepLease }

func (e *LeaseHeldError) Error() string {
	return fmt.Sprintf("a cycle is running (%s)", e.Lease.Owner)
}

// ErrLeaseLost means that a write came from an owner whose lease was taken over.
var ErrLeaseLost = errors.New("the lease was taken over")

// TakeSleepLease gives the lease to owner until the given time if it is free,
// expired at now, owner's already, or its owner is dead. Errors: *LeaseHeldError.
func (s *Store) TakeSleepLease(ctx context.Context, owner string, now, until time.Time, dead func(owner string) bool) (SleepLease, error) {
	var l SleepLease
	err := s.Do(ctx, func(t *tx) error {
		var expires int64
		if _, err := t.Row(`SELECT owner, generation, expires FROM sleep_lease`, nil, &l.Owner, &l.Generation, &expires); err != nil {
			return err
		}
		l.Expires = time.UnixMicro(expires).UTC()
		if l.Owner != "" && l.Owner != owner && now.Before(l.Expires) && !dead(l.Owner) {
			return &LeaseHeldError{l}
		}
		l = SleepLease{owner, l.Generation + 1, until.UTC()}
		_, err := t.Exec(`UPDATE sleep_lease SET owner = ?, generation = ?, expires = ?`, owner, l.Generation, until.UnixMicro())
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
		_, err := t.Exec(`UPDATE sleep_lease SET expires = ?`, until.UnixMicro())
		return err
	})
}

// ReleaseSleepLease gives a lease back. Errors: ErrLeaseLost.
func (s *Store) ReleaseSleepLease(ctx context.Context, l SleepLease) error {
	return s.underLease(ctx, "release the lease of the nights", l.Generation, func(t *tx) error {
		_, err := t.Exec(`UPDATE sleep_lease SET owner = ''`)
		return err
	})
}

// underLease writes under a lease of that generation.
func (s *Store) underLease(ctx context.Context, what string, generation int64, f func(*tx) error) error {
	err := s.Do(ctx, func(t *tx) error {
		var now int64
		if _, err := t.Row(`SELECT generation FROM sleep_lease`, nil, &now); err != nil {
			return err
		}
		if now != generation {
			return ErrLeaseLost
		}
		return f(t)
	})
	return sqlite.Named(err, "%s", what)
}

// SleepLeaseNow is the present lease.
func (s *Store) SleepLeaseNow(ctx context.Context) (l SleepLease, err error) {
	_, err = sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (struct{}, error) {
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

// SaveNight stores a night, and replaces an earlier one with its id. Errors:
// ErrLeaseLost.
func (s *Store) SaveNight(ctx context.Context, generation int64, id string, began time.Time, body json.RawMessage) error {
	return s.underLease(ctx, "save night "+id, generation, func(t *tx) error {
		_, err := t.Exec(`INSERT INTO nights (id, began, body) VALUES (?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET body = excluded.body`, id, began.UnixMicro(), string(body))
		return err
	})
}

// Nights returns the bodies of the newest nights, the newest first; 0 is all. They are
// ordered by when they were first saved, not by the clock when they began: if the clock
// was fast once, that night would otherwise stay the newest. (rowid grows with each
// night, and VACUUM, which may renumber, keeps the order.)
func (s *Store) Nights(ctx context.Context, limit int) ([]json.RawMessage, error) {
	if limit <= 0 {
		limit = -1
	}
	bodies, err := sqlite.Query(ctx, s.DB, sqlite.ScanBody[json.RawMessage], `SELECT body FROM nights ORDER BY rowid DESC LIMIT ?`, limit)
	return bodies, sqlite.Named(err, "list nights")
}

// SaveSleepState stores the state that a skill's nights share, and which of its trials,
// by number, count as promotions over its lifetime: such a mark is permanent. Errors:
// ErrLeaseLost.
func (s *Store) SaveSleepState(ctx context.Context, generation int64, skill string, body json.RawMessage, proved ...int) error {
	return s.underLease(ctx, "save the nights of "+skill, generation, func(t *tx) error {
		_, err := t.Exec(`INSERT INTO sleep_states (skill, body) VALUES (?, ?)
			ON CONFLICT (skill) DO UPDATE SET body = excluded.body`, skill, string(body))
		if err != nil {
			return err
		}
		return prove(t, skill, proved)
	})
}

// SleepState returns what SaveSleepState stored, nil if there is none.
func (s *Store) SleepState(ctx context.Context, skill string) (json.RawMessage, error) {
	found, err := sqlite.FirstOrZero(sqlite.Query(ctx, s.DB, sqlite.ScanBody[json.RawMessage], `SELECT body FROM sleep_states WHERE skill = ?`, skill))
	return found, sqlite.Named(err, "read the nights of %s", skill)
}

// SleepStates returns what SaveSleepState stored, of every skill, by its name.
func (s *Store) SleepStates(ctx context.Context) (map[string]json.RawMessage, error) {
	states := map[string]json.RawMessage{}
	_, err := sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (struct{}, error) {
		var skill, body string
		err := rows.Scan(&skill, &body)
		states[skill] = json.RawMessage(body)
		return struct{}{}, err
	}, `SELECT skill, body FROM sleep_states`)
	return states, sqlite.Named(err, "list the nights of all skills")
}

// An Answerer is the source of an answer: the agent's identity, and the model that it
// reported.
type Answerer struct {
	Agent eval.Identity
	Model string // "" if it reported none
}

// ProvedBy is the source of the last answer in the trial of a candidate before the
// gate; nil if it had none, or no record of it is left.
func (s *Store) ProvedBy(ctx context.Context, candidate string) (*Answerer, error) {
	return s.lastAnswer(ctx, "candidate = ?1 AND status = ?2 AND arm LIKE 'gate:%:' || substr(?1, 1, 16)", candidate, string(eval.Done))
}

// recentRollouts is how far back LastModel looks: in older rollouts a name may stand
// for another model.
const recentRollouts = 1000

// LastModel is the model that an agent reported last, "" if it is not among the newest
// rollouts or reported none.
func (s *Store) LastModel(ctx context.Context, agent eval.Identity) (string, error) {
	a, err := s.lastAnswer(ctx, `id > (SELECT max(id) FROM rollouts) - ?5 AND status = ?1 AND body ->> '$.model' <> ''
		AND body ->> '$.agent.backend' = ?2 AND coalesce(body ->> '$.agent.version', '') = ?3 AND coalesce(body ->> '$.agent.model', '') = ?4`,
		string(eval.Done), agent.Backend, agent.Version, agent.Model, recentRollouts)
	if err != nil || a == nil {
		return "", err
	}
	return a.Model, nil
}

func (s *Store) lastAnswer(ctx context.Context, where string, args ...any) (*Answerer, error) {
	found, err := sqlite.First(sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (a Answerer, err error) {
		var agent sql.RawBytes
		if err = rows.Scan(&agent, &a.Model); err != nil {
			return a, err
		}
		a.Agent, err = sqlite.Decode[eval.Identity](agent)
		return a, err
	}, `SELECT body -> '$.agent', coalesce(body ->> '$.model', '') FROM rollouts WHERE `+where+` ORDER BY id DESC LIMIT 1`, args...))
	return found, sqlite.Named(err, "look up who answered")
}

// A Turn is the place of a turn in a session.
type Turn struct {
	Session string // id
	Path    string // of the transcript
	Index   int
}

// A TurnCost is the usage of a turn according to its transcript; nil is unknown.
type TurnCost struct {
	Usage       *eval.Usage `json:"usage"`
	DurationMS  *int64      `json:"duration_ms"`
	Interrupted bool        `json:"interrupted"` // by the user, so the figures are incomplete
}

// TurnCosts returns the costs of the turns in which a skill was used.
func (s *Store) TurnCosts(ctx context.Context, skill string) (map[Turn]TurnCost, error) {
	costs := map[Turn]TurnCost{}
	_, err := sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (struct{}, error) {
		var t Turn
		var body sql.RawBytes
		if err := rows.Scan(&t.Session, &t.Path, &t.Index, &body); err != nil {
			return struct{}{}, err
		}
		c, err := sqlite.Decode[TurnCost](body)
		costs[t] = c
		return struct{}{}, err
	}, `SELECT u.session, u.path, u.turn, json_object('usage', json(s.turns -> ('$[' || u.turn || '].usage')),
			'duration_ms', s.turns -> ('$[' || u.turn || '].duration_ms'),
			'interrupted', json(CASE WHEN s.turns ->> ('$[' || u.turn || '].interrupted') THEN 'true' ELSE 'false' END))
		FROM (SELECT DISTINCT session, path, CAST(body ->> '$.turn' AS INTEGER) AS turn FROM invocations WHERE skill = ?) u
		JOIN sessions s ON s.id = u.session AND s.path = u.path WHERE u.turn >= 0`, skill)
	return costs, sqlite.Named(err, "read what the uses of %s took", skill)
}
