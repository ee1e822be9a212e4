package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/store/sqlite"
)

// A Place is a path at which evolve knows a text of a skill.
type Place struct {
	Path string    // of the SKILL.md, symlinks resolved
	SHA  string    // of the text that evolve last saw or wrote there
	At   time.Time // when that was recorded
}

// Places lists where a skill is installed, by path.
func (s *Store) Places(ctx context.Context, name string) ([]Place, error) {
	list, err := sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (p Place, err error) {
		var at sql.NullInt64
		err = rows.Scan(&p.Path, &p.SHA, &at)
		p.At = sqlite.FromMicros(at)
		return p, err
	}, `SELECT path, sha, at FROM installed WHERE skill = ? ORDER BY path`, name)
	return list, sqlite.Named(err, "list places of %s", name)
}

// ForgetPlace records that a skill is no longer at a path: its owner removed it.
func (s *Store) ForgetPlace(ctx context.Context, name, path string) error {
	err := s.Do(ctx, func(t *tx) error {
		if _, err := t.Exec(`DELETE FROM installed WHERE skill = ? AND path = ?`, name, path); err != nil {
			return err
		}
		return forgetPlanted(t, name, path)
	})
	return sqlite.Named(err, "forget place of %s", name)
}

// PlantedFiles are the files that evolve copied beside the SKILL.md at path when the
// place was empty; planted is false if evolve did not create the folder.
func (s *Store) PlantedFiles(ctx context.Context, name, path string) (files []install.FolderFile, planted bool, err error) {
	rows, err := sqlite.Query(ctx, s.DB, sqlite.ScanBody[json.RawMessage], `SELECT files FROM planted WHERE skill = ? AND path = ?`, name, path)
	if err == nil && len(rows) > 0 {
		err = json.Unmarshal(rows[0], &files)
	}
	if err != nil {
		return nil, false, fmt.Errorf("look up files of %s: %w", name, err)
	}
	return files, len(rows) > 0, nil
}

func setPlanted(t *tx, in Intent) error {
	files := in.Files
	if files == nil {
		files = []install.FolderFile{}
	}
	raw, err := json.Marshal(files)
	if err != nil {
		return fmt.Errorf("encode files: %w", err)
	}
	_, err = t.Exec(`INSERT INTO planted (skill, path, files) VALUES (?, ?, ?)
		ON CONFLICT (skill, path) DO UPDATE SET files = excluded.files`, in.Skill, in.Path, string(raw))
	return err
}

func forgetPlanted(t *tx, name, path string) error {
	_, err := t.Exec(`DELETE FROM planted WHERE skill = ? AND path = ?`, name, path)
	return err
}

// A Pin keeps a skill unchanged.
type Pin struct {
	Skill string
	SHA   string // of the text that was live when it was pinned
	At    time.Time
}

// PinSkill pins a skill, and replaces an earlier pin.
func (s *Store) PinSkill(ctx context.Context, name, sha string) error {
	now := s.now().UnixMicro()
	err := s.Exec(ctx, `INSERT INTO pins (skill, sha, at) VALUES (?, ?, ?)
			ON CONFLICT (skill) DO UPDATE SET sha = excluded.sha, at = excluded.at`, name, sha, now)
	return sqlite.Named(err, "pin %s", name)
}

// UnpinSkill removes the pin; was is false if there was none.
func (s *Store) UnpinSkill(ctx context.Context, name string) (was bool, err error) {
	err = s.Do(ctx, func(t *tx) error {
		var sha string
		if was, err = t.Row(`SELECT sha FROM pins WHERE skill = ?`, []any{name}, &sha); err != nil {
			return err
		}
		_, err := t.Exec(`DELETE FROM pins WHERE skill = ?`, name)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("unpin %s: %w", name, err)
	}
	return was, nil
}

// Pinned returns a skill's pin, nil for none.
func (s *Store) Pinned(ctx context.Context, name string) (*Pin, error) {
	found, err := sqlite.First(sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (p Pin, err error) {
		var at sql.NullInt64
		err = rows.Scan(&p.Skill, &p.SHA, &at)
		p.At = sqlite.FromMicros(at)
		return p, err
	}, `SELECT skill, sha, at FROM pins WHERE skill = ?`, name))
	return found, sqlite.Named(err, "look up the pin of %s", name)
}
