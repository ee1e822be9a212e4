package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

// SaveRunTime keeps what a run has used of its time so far, over all processes that
// worked on it. It never becomes less.
func (s *Store) SaveRunTime(ctx context.Context, run string, used time.Duration) error {
	err := s.do(context.WithoutCancel(ctx), func(t *tx) error {
		_, err := t.exec(`INSERT INTO run_times (run, ms) VALUES (?, ?)
			ON CONFLICT (run) DO UPDATE SET ms = max(ms, excluded.ms)`, run, used.Milliseconds())
		return err
	})
	if err != nil {
		return fmt.Errorf("save the time of run %s: %w", run, err)
	}
	return nil
}

// RunTime is what SaveRunTime kept, 0 for nothing.
func (s *Store) RunTime(ctx context.Context, run string) (time.Duration, error) {
	ms, err := query(ctx, s, func(rows *sql.Rows) (ms int64, err error) {
		err = rows.Scan(&ms)
		return ms, err
	}, `SELECT ms FROM run_times WHERE run = ?`, run)
	if err != nil {
		return 0, fmt.Errorf("read the time of run %s: %w", run, err)
	}
	if len(ms) == 0 {
		return 0, nil
	}
	return time.Duration(ms[0]) * time.Millisecond, nil
}

// BeginRun notes that a run about a skill begins to spend, in the place of the one
// noted before.
func (s *Store) BeginRun(ctx context.Context, skill, run string) error {
	err := s.do(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO beginnings (skill, run) VALUES (?, ?)
			ON CONFLICT (skill) DO UPDATE SET run = excluded.run`, skill, run)
		return err
	})
	if err != nil {
		return fmt.Errorf("begin run %s: %w", run, err)
	}
	return nil
}

// BegunRun is the run about a skill that was noted to begin and has not been saved,
// "" for none.
func (s *Store) BegunRun(ctx context.Context, skill string) (string, error) {
	ids, err := query(ctx, s, func(rows *sql.Rows) (id string, err error) {
		err = rows.Scan(&id)
		return id, err
	}, `SELECT run FROM beginnings WHERE skill = ? AND run NOT IN (SELECT id FROM runs)`, skill)
	if err != nil {
		return "", fmt.Errorf("look for a run of %s that has begun: %w", skill, err)
	}
	if len(ids) == 0 {
		return "", nil
	}
	return ids[0], nil
}

// DropBegun forgets that a run has begun: it ended before it was one.
func (s *Store) DropBegun(ctx context.Context, run string) error {
	err := s.do(context.WithoutCancel(ctx), func(t *tx) error {
		_, err := t.exec(`DELETE FROM beginnings WHERE run = ?`, run)
		return err
	})
	if err != nil {
		return fmt.Errorf("end run %s: %w", run, err)
	}
	return nil
}

// Recorded returns the replies that a run recorded of one spender, by the names under
// which it did.
func (s *Store) Recorded(ctx context.Context, run string, by eval.Spender) (map[string]eval.Completion, error) {
	type named struct {
		name  string
		reply eval.Completion
	}
	replies, err := query(ctx, s, func(rows *sql.Rows) (n named, err error) {
		var body sql.RawBytes
		if err = rows.Scan(&n.name, &body); err != nil {
			return n, err
		}
		n.reply, err = decode[eval.Completion](body)
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
