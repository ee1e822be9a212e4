// Package peek reads names from a database without a trace.
package peek

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/store/sqlite"
)

// A Peek reads names from a database without a trace: it makes no file, changes no byte
// and migrates no schema, whatever other processes have the database open. It is for
// uses that may be wrong without harm, such as the completion of a command line. Its
// results may be slightly out of date.
type Peek struct {
	db   *sql.DB
	done func() error
}

// A Name is something that can be typed, with a few words about it.
type Name struct{ Name, Note string }

// At opens the database at path. A missing one is an error that wraps
// fs.ErrNotExist.
func At(ctx context.Context, path string) (*Peek, error) {
	db, done, err := sqlite.Peek(ctx, path)
	if err != nil {
		return nil, err
	}
	return &Peek{db, done}, nil
}

// Close closes the database.
func (p *Peek) Close() error { return p.done() }

// A Known is what a Peek knows names of: the query for them. What is about skills is that
// of one.
type Known string

// What a Peek knows, the newest first, but for skills and cases, which are in order.
const (
	KnownSkills   Known = `SELECT skill, '' FROM versions UNION SELECT skill, '' FROM cases WHERE dropped IS NULL UNION SELECT skill, '' FROM runs ORDER BY 1`
	KnownVersions Known = `SELECT 'v' || n, CASE json_extract(body, '$.author') WHEN 'you' THEN 'yours' ELSE 'by evolve' END || ', ' || substr(json_extract(body, '$.created'), 1, 10)
		FROM versions WHERE skill = ? ORDER BY n DESC LIMIT 50`
	// KnownCandidates came as far as the pool; their names are twelve digits of their SHA-256.
	KnownCandidates Known = `SELECT substr(c.sha, 1, 12), json_extract(c.body, '$.operator') || ', ' || json_extract(c.body, '$.state')
		FROM candidates c JOIN runs r ON r.id = c.run
		WHERE r.skill = ? AND c.seq > 0 AND json_extract(c.body, '$.state') IN ('pooled', 'quarantined')
		GROUP BY c.sha ORDER BY max(r.started) DESC, c.seq DESC LIMIT 50`
	KnownRuns     Known = `SELECT id, skill || ', ' || status FROM runs ORDER BY id DESC LIMIT 50`
	KnownNights   Known = `SELECT id, 'night' FROM nights ORDER BY id DESC LIMIT 50`
	KnownCases    Known = `SELECT id, split FROM cases WHERE skill = ? AND dropped IS NULL ORDER BY id LIMIT 500`
	KnownSessions Known = `SELECT id, agent FROM sessions GROUP BY id ORDER BY max(started) DESC LIMIT 200`
)

// Names are those of a skill, or of all if skill is "".
func (p *Peek) Names(ctx context.Context, of Known, skill string) ([]Name, error) {
	var args []any
	if strings.Contains(string(of), "?") {
		args = []any{skill}
	}
	rows, err := p.db.QueryContext(ctx, string(of), args...)
	if err != nil {
		return nil, fmt.Errorf("peek at store: %w", err)
	}
	defer rows.Close()
	var out []Name
	for rows.Next() {
		var name string
		var note sql.NullString
		if err := rows.Scan(&name, &note); err != nil {
			return nil, fmt.Errorf("peek at store: %w", err)
		}
		out = append(out, Name{name, note.String})
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("peek at store: %w", err)
	}
	return out, nil
}
