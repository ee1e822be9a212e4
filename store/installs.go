package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/store/sqlite"
)

// An Install is one replacement of a live SKILL.md, recorded in two steps: BeginInstall
// before the file is changed, FinishInstall after. If a crash leaves it pending, the
// live file shows whether it happened (SettleInstall).
type Install struct {
	ID    int64
	Skill string
	Path  string // of the SKILL.md, symlinks resolved
	From  string // SHA-256 of the text before, "" if there was none
	To    string // SHA-256 of the new text, "" if the skill is removed again
	Note  string
	Begun time.Time
	Ended time.Time // zero while pending
	// Outcome is "" while pending, else "installed" or "abandoned".
	Outcome string
	Op      string // OpPromote, …; "" in records from before there were several targets
}

// An Intent is an install that is about to begin.
type Intent struct {
	Install
	// Files are the other files of the skill's folder, for a place that is empty (From
	// is ""); PlantedFiles returns them later.
	Files []install.FolderFile
}

// The operation that an install is part of.
const (
	OpPromote  = "promote"
	OpRollback = "rollback"
	OpTry      = "try"          // before its trial has decided, at its owner's word
	OpNightTry = "try by night" // or by a night
	OpTakeBack = "take back"    // by rule, or because its owner has edited it
)

const (
	installed = "installed"
	abandoned = "abandoned"
)

// A PendingError means that an earlier install into the same path has not been
// finished: another process is working on it, or crashed, and the install has to be
// settled.
type PendingError struct{ Install Install }

func (e *PendingError) Error() string {
	return fmt.Sprintf("an install into %s was begun at %s and has not ended",
		e.Install.Path, e.Install.Begun.Format(time.DateTime))
}

// BeginInstall records an install that is about to begin and returns its id. Errors:
// *PendingError.
func (s *Store) BeginInstall(ctx context.Context, in Install) (id int64, err error) {
	ids, err := s.BeginInstalls(ctx, []Intent{{Install: in}})
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

// BeginInstalls records several installs of one operation, all or none, and returns
// their ids in order. Errors: *PendingError.
func (s *Store) BeginInstalls(ctx context.Context, all []Intent) (ids []int64, err error) {
	begun := s.now().UnixMicro()
	err = s.Do(ctx, func(t *tx) (err error) {
		ids, err = beginInstalls(t, all, begun)
		return err
	})
	return ids, err
}

func beginInstalls(t *tx, all []Intent, begun int64) (ids []int64, err error) {
	for _, in := range all {
		if in.Skill == "" || in.Path == "" || in.To == "" && in.From == "" {
			return nil, errors.New("begin install: it has no skill, no path or no sha256")
		}
		id, err := beginInstall(t, in, begun)
		if err != nil {
			return nil, fmt.Errorf("begin install of %s: %w", in.Skill, err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func beginInstall(t *tx, in Intent, begun int64) (id int64, err error) {
	var p installRow
	pending, err := t.Row(`SELECT `+installColumns+` FROM installs WHERE path = ? AND ended IS NULL`,
		[]any{in.Path}, p.dest()...)
	if err != nil {
		return 0, err
	}
	if pending {
		return 0, &PendingError{p.install()}
	}
	if in.From == "" {
		if err := setPlanted(t, in); err != nil {
			return 0, err
		}
	}
	if _, err := t.Exec(`INSERT INTO installs (skill, path, from_sha, to_sha, note, begun, op) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		in.Skill, in.Path, in.From, in.To, in.Note, begun, in.Op); err != nil {
		return 0, err
	}
	_, err = t.Row(`SELECT last_insert_rowid()`, nil, &id)
	return id, err
}

// FinishInstall records that the file is in place: the install is over, and To is
// installed at its path. Finishing it again changes nothing. The error wraps
// ErrNotFound if there is no such install, or it was abandoned.
func (s *Store) FinishInstall(ctx context.Context, id int64) error {
	return s.endInstall(ctx, id, installed)
}

// AbandonInstall records that an install did not happen.
func (s *Store) AbandonInstall(ctx context.Context, id int64) error {
	return s.endInstall(ctx, id, abandoned)
}

func (s *Store) endInstall(ctx context.Context, id int64, outcome string) error {
	now := s.now().UnixMicro()
	err := s.Do(ctx, func(t *tx) error {
		var row installRow
		ok, err := t.Row(`SELECT `+installColumns+` FROM installs WHERE id = ?`, []any{id}, row.dest()...)
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
		if _, err := t.Exec(`UPDATE installs SET ended = ?, outcome = ? WHERE id = ?`, now, outcome, id); err != nil {
			return err
		}
		switch {
		case outcome == abandoned && in.From == "":
			return forgetPlanted(t, in.Skill, in.Path)
		case outcome == abandoned:
			return nil
		case in.To == "":
			if _, err := t.Exec(`DELETE FROM installed WHERE skill = ? AND path = ?`, in.Skill, in.Path); err != nil {
				return err
			}
			return forgetPlanted(t, in.Skill, in.Path)
		}
		return setInstalled(t, in.Skill, in.Path, in.To, now)
	})
	return sqlite.Named(err, "end install %d", id)
}

// SettleInstall ends an install that a crash left pending, by the SHA-256 of the file
// that is live at its path now ("" for none): it has happened if that is To, and
// otherwise not. happened is the result.
func (s *Store) SettleInstall(ctx context.Context, in Install, live string) (happened bool, err error) {
	if live == in.To {
		return true, s.FinishInstall(ctx, in.ID)
	}
	return false, s.AbandonInstall(ctx, in.ID)
}

// PendingInstalls returns the installs that were begun and not ended, the
// oldest first.
func (s *Store) PendingInstalls(ctx context.Context) ([]Install, error) {
	list, err := sqlite.Query(ctx, s.DB, scanInstall,
		`SELECT `+installColumns+` FROM installs WHERE ended IS NULL ORDER BY id`)
	return list, sqlite.Named(err, "list pending installs")
}

// Installs returns a skill's installs, the newest first.
func (s *Store) Installs(ctx context.Context, name string) ([]Install, error) {
	list, err := sqlite.Query(ctx, s.DB, scanInstall,
		`SELECT `+installColumns+` FROM installs WHERE skill = ? ORDER BY id DESC`, name)
	return list, sqlite.Named(err, "list installs of %s", name)
}

const installColumns = `id, skill, path, from_sha, to_sha, note, begun, ended, outcome, op`

type installRow struct {
	Install
	begun, ended sql.NullInt64
}

func (r *installRow) dest() []any {
	return []any{&r.ID, &r.Skill, &r.Path, &r.From, &r.To, &r.Note, &r.begun, &r.ended, &r.Outcome, &r.Op}
}

func (r *installRow) install() Install {
	r.Begun, r.Ended = sqlite.FromMicros(r.begun), sqlite.FromMicros(r.ended)
	return r.Install
}

func scanInstall(rows *sql.Rows) (Install, error) {
	var r installRow
	err := rows.Scan(r.dest()...)
	return r.install(), err
}

// Installed returns the SHA-256 of the last known text of a skill at a path, "" if none
// is known.
func (s *Store) Installed(ctx context.Context, name, path string) (sha string, err error) {
	found, err := sqlite.FirstOrZero(sqlite.Query(ctx, s.DB, sqlite.ScanOne[string], `SELECT sha FROM installed WHERE skill = ? AND path = ?`, name, path))
	return found, sqlite.Named(err, "look up installed %s", name)
}

// SetInstalled records the text at a path without an install: one that was found there,
// or that the owner edited. A text that is already known to be there keeps its time.
func (s *Store) SetInstalled(ctx context.Context, name, path, sha string) error {
	now := s.now().UnixMicro()
	err := s.Do(ctx, func(t *tx) error { return setInstalled(t, name, path, sha, now) })
	return sqlite.Named(err, "set installed %s", name)
}

func setInstalled(t *tx, name, path, sha string, now int64) error {
	_, err := t.Exec(`INSERT INTO installed (skill, path, sha, at) VALUES (?, ?, ?, ?)
		ON CONFLICT (skill, path) DO UPDATE SET sha = excluded.sha, at = excluded.at WHERE sha <> excluded.sha`, name, path, sha, now)
	return err
}
