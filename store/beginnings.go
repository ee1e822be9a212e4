package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store/sqlite"
)

// SaveRunTime stores how much time a run has used, over all processes that worked on
// it. The stored time never decreases.
func (s *Store) SaveRunTime(ctx context.Context, run string, used time.Duration) error {
	err := s.Exec(context.WithoutCancel(ctx), `INSERT INTO run_times (run, ms) VALUES (?, ?)
			ON CONFLICT (run) DO UPDATE SET ms = max(ms, excluded.ms)`, run, used.Milliseconds())
	return sqlite.Named(err, "save the time of run %s", run)
}

// RunTime is the time that SaveRunTime stored, 0 if there is none.
func (s *Store) RunTime(ctx context.Context, run string) (time.Duration, error) {
	ms, err := sqlite.FirstOrZero(sqlite.Query(ctx, s.DB, sqlite.ScanOne[int64], `SELECT ms FROM run_times WHERE run = ?`, run))
	return time.Duration(ms) * time.Millisecond, sqlite.Named(err, "read the time of run %s", run)
}

// BeginRun records that a run about a skill begins to spend, and replaces an earlier
// such record.
func (s *Store) BeginRun(ctx context.Context, skill, run string) error {
	err := s.Exec(ctx, `INSERT INTO beginnings (skill, run) VALUES (?, ?)
			ON CONFLICT (skill) DO UPDATE SET run = excluded.run`, skill, run)
	return sqlite.Named(err, "begin run %s", run)
}

// BegunRun is the run about a skill that BeginRun recorded and that has not been saved,
// "" for none.
func (s *Store) BegunRun(ctx context.Context, skill string) (string, error) {
	found, err := sqlite.FirstOrZero(sqlite.Query(ctx, s.DB, sqlite.ScanOne[string], `SELECT run FROM beginnings WHERE skill = ? AND run NOT IN (SELECT id FROM runs)`, skill))
	return found, sqlite.Named(err, "look for a run of %s that has begun", skill)
}

// DropBegun deletes the record of a run that ended before it was saved.
func (s *Store) DropBegun(ctx context.Context, run string) error {
	err := s.Exec(context.WithoutCancel(ctx), `DELETE FROM beginnings WHERE run = ?`, run)
	return sqlite.Named(err, "end run %s", run)
}

// Recorded returns the replies that a run recorded of one spender, by the names of
// their records.
func (s *Store) Recorded(ctx context.Context, run string, by eval.Spender) (map[string]eval.Completion, error) {
	type named struct {
		name  string
		reply eval.Completion
	}
	replies, err := sqlite.Query(ctx, s.DB, func(rows *sql.Rows) (n named, err error) {
		var body sql.RawBytes
		if err = rows.Scan(&n.name, &body); err != nil {
			return n, err
		}
		n.reply, err = sqlite.Decode[eval.Completion](body)
		return n, err
	}, `SELECT key, body FROM completions WHERE run = ? AND maker = ?`, run, string(by))
	if err != nil {
		return nil, fmt.Errorf("list replies of run %s: %w", run, err)
	}
	out := make(map[string]eval.Completion, len(replies))
	for _, n := range replies {
		out[n.name] = n.reply
	}
	return out, nil
}
