// Package frozen tells which texts come of a suggestion, and when it had read the last of
// what it knows.
package frozen

import (
	"context"
	"database/sql"
	"time"

	"github.com/skill-evolve/evolve/store/sqlite"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Made is a candidate with its run.
type Made struct {
	record.Candidate
	Of record.Run
}

// Of returns the texts that come of a suggestion, for any subject, by SHA-256, with the time
// when it had read all that it knows. A line may go from one file to another.
func Of(ctx context.Context, db *sqlite.DB) (map[string]time.Time, error) {
	first, err := sqlite.Query(ctx, db, sqlite.ScanOne[int64], `SELECT coalesce(started, 0) FROM candidates JOIN runs ON id = run
		WHERE candidates.body ->> '$.operator' = ? ORDER BY started LIMIT 1`, record.Suggested)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	all, err := sqlite.Query(ctx, db, scan, `SELECT candidates.body, runs.body FROM candidates JOIN runs ON id = run
		WHERE coalesce(started, 0) >= ? ORDER BY started, runs.rowid, seq`, first[0])
	return Among(all), err
}

func scan(rows *sql.Rows) (m Made, err error) {
	var made, of sql.RawBytes
	if err = rows.Scan(&made, &of); err != nil {
		return m, err
	}
	if m.Candidate, err = sqlite.Decode[record.Candidate](made); err == nil {
		m.Of, err = sqlite.Decode[record.Run](of)
	}
	return m, err
}

// Suggestions returns the suggestions for a skill that no check has refused or held, the
// newest first, with their texts.
func Suggestions(ctx context.Context, db *sqlite.DB, skill string) ([]record.Candidate, error) {
	all, err := sqlite.Query(ctx, db, func(rows *sql.Rows) (c record.Candidate, err error) {
		var made sql.RawBytes
		var text []byte
		if err = rows.Scan(&made, &text); err == nil {
			c, err = sqlite.Decode[record.Candidate](made)
		}
		c.Text = text
		return c, err
	}, `SELECT candidates.body, text FROM candidates JOIN runs ON id = run WHERE skill = ? AND candidates.body ->> '$.operator' = ?
		AND candidates.body ->> '$.state' = ? ORDER BY started DESC, runs.rowid DESC`, skill, record.Suggested, string(record.Pooled))
	return all, sqlite.Named(err, "list suggestions for %s", skill)
}

// Among returns those of all candidates, in the order in which they were made:
// suggestions, what was made of them, and whatever a run proposed that had one of these in
// its pool, where its mutator may have read it. The text that a run tried to improve passes
// nothing on: each trial has it in both arms.
func Among(all []Made) map[string]time.Time {
	out := map[string]time.Time{}
	var run string
	var at time.Time // of the run's latest
	for _, m := range all {
		if m.Run != run {
			run, at = m.Run, time.Time{}
		}
		if m.Operator == record.Suggested && m.Of.Ended.After(at) {
			at = m.Of.Ended
		}
		if m.SHA == m.Of.Incumbent {
			continue
		}
		for _, sha := range append([]string{m.SHA}, m.Parents...) {
			if t := out[sha]; sha != m.Of.Incumbent && t.After(at) {
				at = t
			}
		}
		if !at.IsZero() {
			out[m.SHA] = at
		}
	}
	return out
}
