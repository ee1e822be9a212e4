package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store/sqlite"
	"github.com/skill-evolve/evolve/tournament/record"
)

// CountSessions counts the sessions that are kept.
func (s *Store) CountSessions(ctx context.Context) (int, error) {
	found, err := sqlite.FirstOrZero(sqlite.Query(ctx, s.DB, sqlite.ScanOne[int], `SELECT count(*) FROM sessions`))
	return found, sqlite.Named(err, "count sessions")
}

// TextSizes are how many bytes of text are kept of each session, by its ID and Path.
func (s *Store) TextSizes(ctx context.Context) (map[[2]string]int64, error) {
	out := map[[2]string]int64{}
	_, err := sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (struct{}, error) {
		var key [2]string
		var n int64
		err := rows.Scan(&key[0], &key[1], &n)
		out[key] = n
		return struct{}{}, err
	}, `SELECT id, path, length(CAST(turns AS BLOB)) FROM sessions WHERE expired IS NULL`)
	return out, sqlite.Named(err, "measure the text of sessions")
}

// CaseCounts counts the cases of every skill by their split, without reading them.
func (s *Store) CaseCounts(ctx context.Context) (map[string]map[eval.Split]int, error) {
	type count struct {
		skill string
		split eval.Split
		n     int
	}
	counts, err := sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (c count, err error) {
		err = rows.Scan(&c.skill, &c.split, &c.n)
		return c, err
	}, `SELECT skill, split, count(*) FROM cases WHERE dropped IS NULL GROUP BY skill, split`)
	if err != nil {
		return nil, fmt.Errorf("count cases: %w", err)
	}
	out := map[string]map[eval.Split]int{}
	for _, c := range counts {
		if out[c.skill] == nil {
			out[c.skill] = map[eval.Split]int{}
		}
		out[c.skill][c.split] = c.n
	}
	return out, nil
}

// Flagged lists the skills with a text that was ever in quarantine, that the owner
// has decided on, or that was suggested; for all others there is nothing to decide.
func (s *Store) Flagged(ctx context.Context) (map[string]bool, error) {
	names, err := sqlite.Query(ctx, s.DB, sqlite.ScanOne[string], `SELECT DISTINCT r.skill FROM candidates c JOIN runs r ON r.id = c.run WHERE json_extract(c.body, '$.state') = ? OR json_extract(c.body, '$.operator') = ?
		UNION SELECT skill FROM decisions`, string(record.Quarantined), record.Suggested)
	if err != nil {
		return nil, fmt.Errorf("list skills with a quarantine: %w", err)
	}
	out := map[string]bool{}
	for _, name := range names {
		out[name] = true
	}
	return out, nil
}
