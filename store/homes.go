package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/skill-evolve/evolve/store/sqlite"
)

// Homes returns the last known target of each path of a skill: the SKILL.md as agents
// find it → the same file, symlinks resolved.
func (s *Store) Homes(ctx context.Context, name string) (map[string]string, error) {
	pairs, err := sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (p [2]string, err error) {
		err = rows.Scan(&p[0], &p[1])
		return p, err
	}, `SELECT link, path FROM homes WHERE skill = ?`, name)
	if err != nil {
		return nil, fmt.Errorf("list the homes of %s: %w", name, err)
	}
	homes := make(map[string]string, len(pairs))
	for _, p := range pairs {
		homes[p[0]] = p[1]
	}
	return homes, nil
}

// SetHome records the target of a path of a skill. If the target was from before and
// the skill is no longer there, the records about from (its text and its installs) are
// moved to path. from is "" if it is still a place of the skill.
func (s *Store) SetHome(ctx context.Context, name, link, path, from string) error {
	err := s.Do(ctx, func(t *tx) error {
		_, err := t.Exec(`INSERT INTO homes (skill, link, path) VALUES (?, ?, ?)
			ON CONFLICT (skill, link) DO UPDATE SET path = excluded.path`, name, link, path)
		if err != nil || from == "" || from == path {
			return err
		}
		for _, q := range []string{
			`UPDATE OR IGNORE installed SET path = ?3 WHERE skill = ?1 AND path = ?2`,
			`UPDATE OR IGNORE planted SET path = ?3 WHERE skill = ?1 AND path = ?2`,
			`UPDATE installs SET path = ?3 WHERE skill = ?1 AND path = ?2 AND ended IS NOT NULL`, // the others are settled where they began
		} {
			if _, err := t.Exec(q, name, from, path); err != nil {
				return err
			}
		}
		_, err = t.Exec(`DELETE FROM installed WHERE skill = ? AND path = ?`, name, from) // path had a text of its own
		return err
	})
	return sqlite.Named(err, "set the home of %s", name)
}
