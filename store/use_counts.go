package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/store/sqlite"
)

// SkillUse counts the uses of one skill, for every command. A use is one invocation in
// a person's session, counted once whatever copies of the session there are. A call
// that the agent refused is none, and neither is one that it only planned
// (harvest.Invocation.Planned). The other counts are of the uses with that label; the
// rest of Uses has no reaction of the user's.
type SkillUse struct {
	Skill     string
	Uses      int
	Accepted  int
	Corrected int
	Rejected  int
	Repeated  int
	Abandoned int
	Unread    int       // what the user wrote after them was not read by a model
	Headless  int       // uses in sessions that a program drove, and by subagents: in none of the others
	Last      time.Time // zero if no use has a time
}

// Failed counts the uses with a negative label.
func (u *SkillUse) Failed() int { return u.Corrected + u.Rejected + u.Repeated }

// Plus adds up the uses of one skill under two names.
func (u SkillUse) Plus(v SkillUse) SkillUse {
	u.Uses, u.Accepted, u.Corrected, u.Rejected = u.Uses+v.Uses, u.Accepted+v.Accepted, u.Corrected+v.Corrected, u.Rejected+v.Rejected
	u.Repeated, u.Abandoned, u.Unread, u.Headless = u.Repeated+v.Repeated, u.Abandoned+v.Abandoned, u.Unread+v.Unread, u.Headless+v.Headless
	if v.Last.After(u.Last) {
		u.Last = v.Last
	}
	return u
}

// countOf counts the rows of distinctUses.
const countOf = `coalesce(sum(NOT headless), 0), coalesce(sum(NOT headless AND label = 'accepted'), 0), coalesce(sum(NOT headless AND label = 'corrected'), 0),
	coalesce(sum(NOT headless AND label = 'rejected'), 0), coalesce(sum(NOT headless AND label = 'repeated'), 0), coalesce(sum(NOT headless AND label = 'abandoned'), 0),
	max(CASE WHEN NOT headless THEN at END), coalesce(sum(headless), 0), coalesce(sum(NOT headless AND body ->> '$.feedback.unread'), 0)`

// countUses counts the uses of the skill ?1: one row, even if there are none.
const countUses = `SELECT ?1, ` + countOf + ` FROM (` + distinctUses + `) WHERE skill = ?1`

// uncounted lists the skills whose uses have changed since they were counted.
const uncounted = `SELECT DISTINCT skill FROM invocations EXCEPT SELECT skill FROM use_counts WHERE unread IS NOT NULL`

const readCounts = `SELECT skill, uses, accepted, corrected, rejected, repeated, abandoned, last, headless, unread
	FROM use_counts WHERE uses + headless > 0 ORDER BY uses DESC, skill`

// SkillUses counts all uses, the most used skill first. Counts are stored until a
// session that uses the skill is added or removed; a read-only store stores none.
func (s *Store) SkillUses(ctx context.Context) ([]SkillUse, error) {
	uses, err := s.counted(ctx)
	if uses == nil && err == nil && s.ReadOnly() {
		uses, err = s.countAll(ctx)
	} else if uses == nil && err == nil {
		err = s.Do(ctx, func(t *tx) error { // counted and read as one
			uses = []SkillUse{}
			var names []string
			err := t.Each(uncounted, nil, func(rows *sql.Rows) error {
				var name string
				err := rows.Scan(&name)
				names = append(names, name)
				return err
			})
			if err != nil {
				return err
			}
			for _, name := range names {
				if _, err := t.Exec(`INSERT OR REPLACE INTO use_counts `+countUses, name); err != nil {
					return err
				}
			}
			return t.Each(readCounts, nil, func(rows *sql.Rows) error {
				u, err := scanUse(rows)
				uses = append(uses, u)
				return err
			})
		})
	}
	return uses, sqlite.Named(err, "count uses of skills")
}

// countAll counts the skills without stored counts, and stores nothing.
func (s *Store) countAll(ctx context.Context) ([]SkillUse, error) {
	uses, err := sqlite.Query(ctx, s.DB, scanUse, readCounts)
	if err != nil {
		return nil, err
	}
	names, err := sqlite.Query(ctx, s.DB, sqlite.ScanOne[string], uncounted)
	for _, name := range names {
		more, e := sqlite.Query(ctx, s.DB, scanUse, countUses, name)
		err, uses = errors.Join(err, e), append(uses, more...)
	}
	uses = slices.DeleteFunc(uses, func(u SkillUse) bool { return u.Uses+u.Headless == 0 })
	slices.SortFunc(uses, func(u, v SkillUse) int { return cmp.Or(v.Uses-u.Uses, strings.Compare(u.Skill, v.Skill)) })
	return uses, err
}

// counted reads the counts if none of them is missing, nil if one is.
func (s *Store) counted(ctx context.Context) ([]SkillUse, error) {
	// One statement, so that both come from one moment.
	uses, err := sqlite.Query(ctx, s.DB, scanUse, `SELECT * FROM (`+readCounts+`) UNION ALL
		SELECT '', -1, 0, 0, 0, 0, 0, NULL, 0, 0 WHERE EXISTS (`+uncounted+`)`)
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
	err = rows.Scan(&u.Skill, &u.Uses, &u.Accepted, &u.Corrected, &u.Rejected, &u.Repeated, &u.Abandoned, &last, &u.Headless, &u.Unread)
	u.Last = sqlite.FromMicros(last)
	return u, err
}

// CorrectedSince counts the uses of a skill since then that their user corrected.
func (s *Store) CorrectedSince(ctx context.Context, skill string, since time.Time) (int, error) {
	found, err := sqlite.FirstOrZero(sqlite.Query(ctx, s.DB, sqlite.ScanOne[int], `SELECT count(*) FROM (`+distinctUses+`) WHERE skill = ? AND at > ? AND label = ? AND NOT headless`,
		skill, since.UnixMicro(), string(harvest.Corrected)))
	return found, sqlite.Named(err, "count uses of %s", skill)
}
