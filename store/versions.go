package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/store/sqlite"
	"github.com/skill-evolve/evolve/tournament/record"
)

// SaveVersion appends v to its skill's versions and returns it as stored: with the next
// number (0 for a skill's first), and with the time if v has none. If the skill's
// latest version already has v's SHA, it is returned, and gets the proof that v has.
func (s *Store) SaveVersion(ctx context.Context, v record.Version) (record.Version, error) {
	if v.Skill == "" || v.SHA == "" {
		return v, errors.New("save version: it has no skill or no sha256")
	}
	if v.Created.IsZero() {
		v.Created = s.now().UTC()
	}
	var kept record.Version
	err := s.Do(ctx, func(t *tx) (err error) {
		kept, err = saveVersion(t, v)
		return err
	})
	if err != nil {
		return v, fmt.Errorf("save version of %s: %w", v.Skill, err)
	}
	return kept, nil
}

// saveVersion is SaveVersion within a transaction.
func saveVersion(t *tx, v record.Version) (record.Version, error) {
	latest, n, err := nextVersion(t, v.Skill, v.SHA)
	switch {
	case err != nil:
		return v, err
	case latest != nil && (latest.Proven || !v.Proven):
		return *latest, nil
	case latest != nil: // it was in place before it was proved
		v.Created = latest.Created
	}
	v.N = n
	return v, putVersion(t, v)
}

// nextVersion is the number that a text would get as a version; latest is the newest
// version if it is this very text, else nil.
func nextVersion(t *tx, name, sha string) (latest *record.Version, n int, err error) {
	var body, text []byte
	ok, err := t.Row(`SELECT body, text FROM versions WHERE skill = ? ORDER BY n DESC LIMIT 1`, []any{name}, &body, &text)
	if err != nil || !ok {
		return nil, 0, err
	}
	newest, err := sqlite.Decode[record.Version](body)
	if err != nil {
		return nil, 0, err
	}
	if newest.SHA == sha {
		newest.Text = text
		return &newest, newest.N, nil
	}
	return nil, newest.N + 1, nil
}

// NextVersion is the number that SaveVersion would give a text now.
func (s *Store) NextVersion(ctx context.Context, name, sha string) (n int, err error) {
	err = s.Do(ctx, func(t *tx) (err error) {
		_, n, err = nextVersion(t, name, sha)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("number a version of %s: %w", name, err)
	}
	return n, nil
}

// BeginVersion is SaveVersion and BeginInstalls in one transaction: a crash cannot
// leave a version without the installs that it is for.
func (s *Store) BeginVersion(ctx context.Context, v record.Version, all []Intent) (kept record.Version, ids []int64, err error) {
	if v.Skill == "" || v.SHA == "" {
		return v, nil, errors.New("save version: it has no skill or no sha256")
	}
	now := s.now()
	begun := now.UnixMicro()
	if v.Created.IsZero() {
		v.Created = now.UTC().Truncate(time.Microsecond) // no later than the installs
	}
	err = s.Do(ctx, func(t *tx) (err error) {
		if kept, err = saveVersion(t, v); err != nil {
			return fmt.Errorf("save version of %s: %w", v.Skill, err)
		}
		ids, err = beginInstalls(t, all, begun)
		return err
	})
	return kept, ids, err
}

// WithdrawVersion removes a version that evolve saved to install it and then could not:
// the newest of its skill, never installed. It does nothing for any other version.
func (s *Store) WithdrawVersion(ctx context.Context, v record.Version) error {
	if v.Author != "evolve" {
		return nil
	}
	err := s.Exec(ctx, `DELETE FROM versions WHERE skill = ?1 AND n = ?2 AND sha = ?3
			AND n = (SELECT max(n) FROM versions WHERE skill = ?1)
			AND NOT EXISTS (SELECT 1 FROM installs WHERE skill = ?1 AND to_sha = ?3
				AND outcome <> 'abandoned')`, v.Skill, v.N, v.SHA)
	return sqlite.Named(err, "withdraw version of %s", v.Skill)
}

func putVersion(t *tx, v record.Version) error {
	text := v.Text
	v.Text = nil
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode version: %w", err)
	}
	_, err = t.Exec(`INSERT OR REPLACE INTO versions (skill, n, sha, text, body) VALUES (?, ?, ?, ?, ?)`,
		v.Skill, v.N, v.SHA, text, string(body))
	return err
}

func scanVersion(rows *sql.Rows) (v record.Version, err error) {
	var body sql.RawBytes
	var text []byte
	if err = rows.Scan(&body, &text); err != nil {
		return v, err
	}
	v, err = sqlite.Decode[record.Version](body)
	v.Text = text
	return v, err
}

// Versions returns a skill's versions from v0 on, with their texts; of all
// skills, by name, if skill is "".
func (s *Store) Versions(ctx context.Context, skill string) ([]record.Version, error) {
	vs, err := sqlite.Query(ctx, s.DB, scanVersion,
		`SELECT body, text FROM versions WHERE ?1 = '' OR skill = ?1 ORDER BY skill, n`, skill)
	return vs, sqlite.Named(err, "list versions of %s", skill)
}

// Version returns version n of a skill; the error wraps ErrNotFound if there
// is none.
func (s *Store) Version(ctx context.Context, skill string, n int) (*record.Version, error) {
	return s.oneVersion(ctx, fmt.Sprintf("%s@v%d", skill, n),
		`SELECT body, text FROM versions WHERE skill = ? AND n = ?`, skill, n)
}

// VersionBySHA returns a skill's newest version whose SHA-256 is sha, or begins
// with it. Errors: ErrNotFound, *AmbiguousError.
func (s *Store) VersionBySHA(ctx context.Context, skill, sha string) (*record.Version, error) {
	full, err := s.complete(ctx, "SELECT DISTINCT sha FROM versions WHERE skill = ?", "sha", sha, skill)
	if err != nil {
		return nil, fmt.Errorf("version %s@%s: %w", skill, sha, err)
	}
	return s.oneVersion(ctx, skill+"@"+sha,
		`SELECT body, text FROM versions WHERE skill = ? AND sha = ? ORDER BY n DESC LIMIT 1`, skill, full)
}

func (s *Store) oneVersion(ctx context.Context, name, q string, args ...any) (*record.Version, error) {
	vs, err := sqlite.Query(ctx, s.DB, scanVersion, q, args...)
	if err == nil && len(vs) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("version %s: %w", name, err)
	}
	return &vs[0], nil
}

// ConfirmKernel records that the owner has confirmed a kernel, by its SHA-256. The
// first time is kept.
func (s *Store) ConfirmKernel(ctx context.Context, skill, kernelSHA string, at time.Time) error {
	err := s.Exec(ctx, `INSERT INTO kernels (skill, sha, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
		skill, kernelSHA, at.UnixMicro())
	return sqlite.Named(err, "confirm kernel of %s", skill)
}

// KernelConfirmed reports whether, and when, a kernel was confirmed.
func (s *Store) KernelConfirmed(ctx context.Context, skill, kernelSHA string) (at time.Time, ok bool, err error) {
	times, err := sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (time.Time, error) {
		var n sql.NullInt64
		err := rows.Scan(&n)
		return sqlite.FromMicros(n), err
	}, `SELECT at FROM kernels WHERE skill = ? AND sha = ?`, skill, kernelSHA)
	if err != nil {
		return at, false, fmt.Errorf("look up kernel of %s: %w", skill, err)
	}
	if len(times) == 0 {
		return at, false, nil
	}
	return times[0], true, nil
}
