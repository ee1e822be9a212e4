package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// An Install is one replacement of a live SKILL.md, written down in two steps:
// BeginInstall before the file is touched, FinishInstall after. A crash in
// between leaves it pending, and the live file tells how far it came
// (SettleInstall).
type Install struct {
	ID    int64
	Skill string
	Path  string // of the SKILL.md, symlinks resolved
	From  string // SHA-256 of what was there, "" where there was nothing
	To    string // SHA-256 of what is written
	Note  string
	Begun time.Time
	Ended time.Time // zero while pending
	// Outcome is "" while pending, else "installed" or "abandoned".
	Outcome string
}

const (
	installed = "installed"
	abandoned = "abandoned"
)

// A PendingError means that an earlier install into the same path has not been
// finished: another process is at it, or it crashed and has to be settled.
type PendingError struct{ Install Install }

func (e *PendingError) Error() string {
	return fmt.Sprintf("an install into %s was begun at %s and has not ended",
		e.Install.Path, e.Install.Begun.Format(time.DateTime))
}

// BeginInstall writes down what is about to be done and returns its id. Errors:
// *PendingError.
func (s *Store) BeginInstall(ctx context.Context, in Install) (id int64, err error) {
	if in.Skill == "" || in.Path == "" || in.To == "" {
		return 0, errors.New("begin install: it has no skill, no path or no new sha256")
	}
	begun := s.now().UnixMicro()
	err = s.do(ctx, func(t *tx) error {
		var p installRow
		pending, err := t.row(`SELECT `+installColumns+` FROM installs WHERE path = ? AND ended IS NULL`,
			[]any{in.Path}, p.dest()...)
		if err != nil {
			return err
		}
		if pending {
			return &PendingError{p.install()}
		}
		if _, err := t.exec(`INSERT INTO installs (skill, path, from_sha, to_sha, note, begun) VALUES (?, ?, ?, ?, ?, ?)`,
			in.Skill, in.Path, in.From, in.To, in.Note, begun); err != nil {
			return err
		}
		_, err = t.row(`SELECT last_insert_rowid()`, nil, &id)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("begin install of %s: %w", in.Skill, err)
	}
	return id, nil
}

// FinishInstall records that the file is in place: the install is over, and To
// is what is installed at its path. Finishing it again changes nothing. The
// error wraps ErrNotFound where there is no such install, or it was abandoned.
func (s *Store) FinishInstall(ctx context.Context, id int64) error {
	return s.endInstall(ctx, id, installed)
}

// AbandonInstall records that an install did not happen.
func (s *Store) AbandonInstall(ctx context.Context, id int64) error {
	return s.endInstall(ctx, id, abandoned)
}

func (s *Store) endInstall(ctx context.Context, id int64, outcome string) error {
	now := s.now().UnixMicro()
	err := s.do(ctx, func(t *tx) error {
		var row installRow
		ok, err := t.row(`SELECT `+installColumns+` FROM installs WHERE id = ?`, []any{id}, row.dest()...)
		in := row.install()
		switch {
		case err != nil:
			return err
		case !ok:
			return ErrNotFound
		case in.Outcome == outcome:
			return nil
		case in.Outcome != "":
			return fmt.Errorf("it was %s: %w", in.Outcome, ErrNotFound)
		}
		if _, err := t.exec(`UPDATE installs SET ended = ?, outcome = ? WHERE id = ?`, now, outcome, id); err != nil {
			return err
		}
		if outcome == abandoned {
			return nil
		}
		return setInstalled(t, in.Skill, in.Path, in.To, now)
	})
	if err != nil {
		return fmt.Errorf("end install %d: %w", id, err)
	}
	return nil
}

// SettleInstall ends an install that a crash left pending, by the SHA-256 of
// the file that is live at its path now ("" for none): it has happened where
// that is To, and has not where it is anything else. It reports which.
func (s *Store) SettleInstall(ctx context.Context, in Install, live string) (happened bool, err error) {
	if live == in.To {
		return true, s.FinishInstall(ctx, in.ID)
	}
	return false, s.AbandonInstall(ctx, in.ID)
}

// PendingInstalls returns the installs that were begun and not ended, the
// oldest first.
func (s *Store) PendingInstalls(ctx context.Context) ([]Install, error) {
	list, err := query(ctx, s, scanInstall,
		`SELECT `+installColumns+` FROM installs WHERE ended IS NULL ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("list pending installs: %w", err)
	}
	return list, nil
}

// Installs returns a skill's installs, the newest first.
func (s *Store) Installs(ctx context.Context, skill string) ([]Install, error) {
	list, err := query(ctx, s, scanInstall,
		`SELECT `+installColumns+` FROM installs WHERE skill = ? ORDER BY id DESC`, skill)
	if err != nil {
		return nil, fmt.Errorf("list installs of %s: %w", skill, err)
	}
	return list, nil
}

const installColumns = `id, skill, path, from_sha, to_sha, note, begun, ended, outcome`

type installRow struct {
	Install
	begun, ended sql.NullInt64
}

func (r *installRow) dest() []any {
	return []any{&r.ID, &r.Skill, &r.Path, &r.From, &r.To, &r.Note, &r.begun, &r.ended, &r.Outcome}
}

func (r *installRow) install() Install {
	r.Begun, r.Ended = fromMicros(r.begun), fromMicros(r.ended)
	return r.Install
}

func scanInstall(rows *sql.Rows) (Install, error) {
	var r installRow
	err := rows.Scan(r.dest()...)
	return r.install(), err
}

// Installed returns the SHA-256 of what evolve last knew to be installed for a
// skill at a path, "" where it knows of nothing.
func (s *Store) Installed(ctx context.Context, skill, path string) (sha string, err error) {
	shas, err := query(ctx, s, func(rows *sql.Rows) (sha string, err error) {
		err = rows.Scan(&sha)
		return sha, err
	}, `SELECT sha FROM installed WHERE skill = ? AND path = ?`, skill, path)
	if err != nil {
		return "", fmt.Errorf("look up installed %s: %w", skill, err)
	}
	if len(shas) == 0 {
		return "", nil
	}
	return shas[0], nil
}

// SetInstalled records what is at a path without an install: what was found
// there, or what the owner edited.
func (s *Store) SetInstalled(ctx context.Context, skill, path, sha string) error {
	now := s.now().UnixMicro()
	err := s.do(ctx, func(t *tx) error { return setInstalled(t, skill, path, sha, now) })
	if err != nil {
		return fmt.Errorf("set installed %s: %w", skill, err)
	}
	return nil
}

func setInstalled(t *tx, skill, path, sha string, now int64) error {
	_, err := t.exec(`INSERT INTO installed (skill, path, sha, at) VALUES (?, ?, ?, ?)
		ON CONFLICT (skill, path) DO UPDATE SET sha = excluded.sha, at = excluded.at`, skill, path, sha, now)
	return err
}
