package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

// A job is one caller's write. run may be called more than once (see commit), so it
// must compute everything anew.
type job struct {
	run func(*Tx) error
	// bare jobs run outside of any transaction (VACUUM).
	bare bool
	done chan error // receives exactly one value, after the commit
}

// shielded is run with panics turned into errors: a panic must not end the process with
// the log not checkpointed.
func (j *job) shielded(t *Tx) error { return eval.Shielded(func() error { return j.run(t) }) }

// A Tx is the writer's connection inside a transaction. Statements stay
// prepared from one transaction to the next; their texts are constants, so
// there are few.
type Tx struct {
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
}

const (
	// maxGroup bounds one transaction, so that other processes get their turn.
	maxGroup = 256
	// lockPatience is how often the writer asks again for a lock after the busy timeout
	// (5 s): a purge that rewrites a large file takes long.
	lockPatience = 12
)

// Do runs f in the next transaction and returns after that has been committed. If f
// fails, its error is returned and nothing of it is kept. Once a job is queued, ctx no
// longer matters, because the job may already have run.
func (s *DB) Do(ctx context.Context, f func(*Tx) error) error {
	return s.submit(ctx, &job{run: f})
}

// Exec is Do of one statement.
func (s *DB) Exec(ctx context.Context, q string, args ...any) error {
	return s.Do(ctx, func(t *Tx) error {
		_, err := t.Exec(q, args...)
		return err
	})
}

func (s *DB) submit(ctx context.Context, j *job) error {
	if s.write == nil {
		return ErrReadOnly
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if known := s.damage.Load(); known != nil {
		return known // a damaged database is not changed
	}
	j.done = make(chan error, 1)
	select {
	case s.jobs <- j:
		return <-j.done
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing:
		return ErrClosed
	}
}

// writer is the goroutine that owns the writing connection. It collects the
// jobs that are waiting and commits them together: one fsync serves them all.
func (s *DB) writer(conn *sql.Conn) {
	defer close(s.stopped)
	t := &Tx{conn: conn, prepared: map[string]*sql.Stmt{}}
	defer t.close()
	var next *job // a bare job that ended the group before it
	for {
		if next == nil {
			select {
			case next = <-s.jobs:
			case <-s.closing:
				return
			}
		}
		if next.bare {
			next.done <- s.Explain(next.shielded(t))
			next = nil
			continue
		}
		var group []*job
		group, next = s.gather(next)
		s.commit(t, group)
	}
}

// gather adds the jobs that are waiting to first, without waiting for any. It
// stops at a bare job and returns that apart.
func (s *DB) gather(first *job) (group []*job, bare *job) {
	group = []*job{first}
	for len(group) < maxGroup {
		select {
		case j := <-s.jobs:
			if j.bare {
				return group, j
			}
			group = append(group, j)
		default:
			return group, nil
		}
	}
	return group, nil
}

// commit runs a group in one transaction. If that fails, each job is run
// again by itself, so that one caller's error is never another's.
func (s *DB) commit(t *Tx, group []*job) {
	begun, err := s.attempt(t, group)
	if err == nil || !begun || len(group) == 1 {
		for _, j := range group {
			j.done <- err
		}
		return
	}
	for _, j := range group {
		_, err := s.attempt(t, []*job{j})
		j.done <- err
	}
}

// attempt runs jobs in one transaction; begun is false if it got no lock.
func (s *DB) attempt(t *Tx, group []*job) (begun bool, err error) {
	if err := s.begin(t); err != nil {
		return false, s.Explain(err)
	}
	for _, j := range group {
		if err := j.shielded(t); err != nil {
			t.rollback()
			return true, s.Explain(err)
		}
	}
	if _, err := t.Exec("COMMIT"); err != nil {
		t.rollback()
		return true, s.Explain(fmt.Errorf("commit: %w", err))
	}
	return true, nil
}

func (s *DB) begin(t *Tx) error {
	for tries := 0; ; tries++ {
		_, err := t.Exec("BEGIN IMMEDIATE")
		if err == nil || kindOf(err) != busy || tries == lockPatience {
			return err
		}
		select {
		case <-s.closing:
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// rollback ends a transaction that failed. After some errors (a full disk) SQLite has
// ended it already; then this fails without consequences.
func (t *Tx) rollback() { _, _ = t.Exec("ROLLBACK") }

// stmt returns q prepared. It uses no caller's context: the end of one must not undo
// the writes of the others in the group.
func (t *Tx) stmt(q string) (*sql.Stmt, error) {
	st, ok := t.prepared[q]
	if ok {
		return st, nil
	}
	st, err := t.conn.PrepareContext(context.Background(), q)
	if err == nil {
		t.prepared[q] = st
	}
	return st, err
}

// Exec runs one statement and returns how many rows it changed.
func (t *Tx) Exec(q string, args ...any) (int64, error) {
	st, err := t.stmt(q)
	if err != nil {
		return 0, err
	}
	res, err := st.Exec(args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// Row scans the first row of a SELECT; ok is false if there is none.
func (t *Tx) Row(q string, args []any, dest ...any) (ok bool, err error) {
	st, err := t.stmt(q)
	if err != nil {
		return false, err
	}
	err = st.QueryRow(args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// Each calls scan for every row of a SELECT. scan must not use t.
func (t *Tx) Each(q string, args []any, scan func(*sql.Rows) error) error {
	st, err := t.stmt(q)
	if err != nil {
		return err
	}
	rows, err := st.Query(args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// List returns the rows of a query, each read by scan.
func List[T any](t *Tx, scan func(*sql.Rows) (T, error), q string, args ...any) (out []T, err error) {
	err = t.Each(q, args, func(rows *sql.Rows) error {
		v, err := scan(rows)
		out = append(out, v)
		return err
	})
	return out, err
}

func (t *Tx) close() {
	for _, st := range t.prepared {
		st.Close()
	}
	t.conn.Close()
}

// Rewrite writes the database anew without its free pages and empties the log, which
// still holds old pages. What was removed before is then overwritten.
func (s *DB) Rewrite(ctx context.Context) error {
	return s.submit(ctx, &job{bare: true, run: rewrite})
}

func rewrite(t *Tx) error {
	ctx := context.Background()
	if _, err := t.conn.ExecContext(ctx, "VACUUM"); err != nil {
		return fmt.Errorf("removed, but not yet overwritten: vacuum: %w", err)
	}
	var held, pages, folded int
	err := t.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&held, &pages, &folded)
	if err == nil && held != 0 {
		err = errors.New("another process is using the database")
	}
	return Named(err, "removed, but not yet overwritten: empty the log")
}
