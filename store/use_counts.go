package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/harvest"
)

// SkillUse counts the uses of one skill. Refused calls (a skill that the agent
// did not know) are none, and neither is what the agent only planned.
type SkillUse struct {
	Skill     string
	Uses      int
	Accepted  int
	Corrected int
	Rejected  int
	Repeated  int
	Abandoned int
	Last      time.Time // zero where no use has a time
}

// countUses counts the uses of the skill ?1: one row, also where there is none.
const countUses = `INSERT OR REPLACE INTO use_counts
	SELECT ?1, count(*), coalesce(sum(label = ?2), 0), coalesce(sum(label = ?3), 0), coalesce(sum(label = ?4), 0),
		coalesce(sum(label = ?5), 0), coalesce(sum(label = ?6), 0), max(at)
	FROM (` + distinctUses + `) WHERE skill = ?1 AND NOT failed AND NOT` + planned

// uncounted lists the skills of which something has changed since they were
// counted.
const uncounted = `SELECT DISTINCT skill FROM invocations EXCEPT SELECT skill FROM use_counts`

const readCounts = `SELECT skill, uses, accepted, corrected, rejected, repeated, abandoned, last
	FROM use_counts WHERE uses > 0 ORDER BY uses DESC, skill`

// SkillUses counts all uses, the most used skill first. What was counted is kept
// until a session that uses the skill comes or goes.
func (s *Store) SkillUses(ctx context.Context) ([]SkillUse, error) {
	uses, err := s.counted(ctx)
	if uses == nil && err == nil {
		err = s.do(ctx, func(t *tx) error { // counted and read as one
			uses = []SkillUse{}
			var names []string
			err := t.each(uncounted, nil, func(rows *sql.Rows) error {
				var name string
				err := rows.Scan(&name)
				names = append(names, name)
				return err
			})
			if err != nil {
				return err
			}
			for _, name := range names {
				if _, err := t.exec(countUses, name, string(harvest.Accepted), string(harvest.Corrected), string(harvest.Rejected),
					string(harvest.Repeated), string(harvest.Abandoned)); err != nil {
					return err
				}
			}
			return t.each(readCounts, nil, func(rows *sql.Rows) error {
				u, err := scanUse(rows)
				uses = append(uses, u)
				return err
			})
		})
	}
	if err != nil {
		return nil, fmt.Errorf("count uses of skills: %w", err)
	}
	return uses, nil
}

// counted reads the counts where none of them is missing, nil where one is.
func (s *Store) counted(ctx context.Context) ([]SkillUse, error) {
	// One statement, so that both come from one moment.
	uses, err := query(ctx, s, scanUse, `SELECT * FROM (`+readCounts+`) UNION ALL
		SELECT '', -1, 0, 0, 0, 0, 0, NULL WHERE EXISTS (`+uncounted+`)`)
	if err != nil {
		return nil, err
	}
	if n := len(uses); n > 0 && uses[n-1].Uses < 0 {
		return nil, nil
	}
	return append([]SkillUse{}, uses...), nil
}

func scanUse(rows *sql.Rows) (u SkillUse, err error) {
	var last sql.NullInt64
	err = rows.Scan(&u.Skill, &u.Uses, &u.Accepted, &u.Corrected, &u.Rejected, &u.Repeated, &u.Abandoned, &last)
	u.Last = fromMicros(last)
	return u, err
}

// FailedSince counts the uses of a skill since then that their user corrected,
// rejected or asked for again.
func (s *Store) FailedSince(ctx context.Context, skill string, since time.Time) (int, error) {
	n, err := query(ctx, s, func(rows *sql.Rows) (n int, err error) {
		err = rows.Scan(&n)
		return n, err
	}, `SELECT count(*) FROM (SELECT 1 FROM invocations WHERE skill = ?1 AND at > ?2 AND label IN (?3, ?4, ?5) AND NOT failed AND NOT`+planned+`
		GROUP BY id, at)`, skill, since.UnixMicro(), string(harvest.Corrected), string(harvest.Rejected), string(harvest.Repeated))
	if err != nil {
		return 0, fmt.Errorf("count uses of %s: %w", skill, err)
	}
	return n[0], nil
}
