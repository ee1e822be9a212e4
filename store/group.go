package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

// A job is one caller's write. run may be called more than once (see commit),
// so whatever it computes it must compute anew.
type job struct {
	run func(*tx) error
	// bare jobs run outside of any transaction (VACUUM).
	bare bool
	done chan error // receives exactly one value, after the commit
}

// shielded is run; a panic is an error of its caller's, not the end of the
// process with the log not folded in.
func (j *job) shielded(t *tx) error { return eval.Shielded(func() error { return j.run(t) }) }

// A tx is the writer's connection inside a transaction. Statements stay
// prepared from one transaction to the next; their texts are constants, so
// there are few.
type tx struct {
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
}

const (
	// maxGroup bounds one transaction, so that other processes get their turn.
	maxGroup = 256
	// lockPatience is how often the writer asks again for a lock that the busy
	// timeout (5 s) did not bring: a purge that rewrites a large file takes long.
	lockPatience = 12
)

// do runs f in the next transaction and returns after that has been committed.
// Where f fails, its error is returned and nothing of it is kept. Once a job has
// been handed over, ctx no longer matters: it is too late to say that nothing
// happened.
func (s *Store) do(ctx context.Context, f func(*tx) error) error {
	return s.submit(ctx, &job{run: f})
}

// exec is do of one statement.
func (s *Store) exec(ctx context.Context, q string, args ...any) error {
	return s.do(ctx, func(t *tx) error {
		_, err := t.exec(q, args...)
		return err
	})
}

func (s *Store) submit(ctx context.Context, j *job) error {
	if s.write == nil {
		return ErrReadOnly
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if known := s.damage.Load(); known != nil {
		return known // what is damaged is left as it is
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
func (s *Store) writer(conn *sql.Conn) {
	defer close(s.stopped)
	t := &tx{conn: conn, prepared: map[string]*sql.Stmt{}}
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
			next.done <- s.explain(next.shielded(t))
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
func (s *Store) gather(first *job) (group []*job, bare *job) {
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

// commit runs a group in one transaction. Where that fails, each job is run
// again by itself, so that one caller's error is never another's.
func (s *Store) commit(t *tx, group []*job) {
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

// attempt runs jobs in one transaction; begun is false where it got no lock.
func (s *Store) attempt(t *tx, group []*job) (begun bool, err error) {
	if err := s.begin(t); err != nil {
		return false, s.explain(err)
	}
	for _, j := range group {
		if err := j.shielded(t); err != nil {
			t.rollback()
			return true, s.explain(err)
		}
	}
	if _, err := t.exec("COMMIT"); err != nil {
		t.rollback()
		return true, s.explain(fmt.Errorf("commit: %w", err))
	}
	return true, nil
}

func (s *Store) begin(t *tx) error {
	for tries := 0; ; tries++ {
		_, err := t.exec("BEGIN IMMEDIATE")
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

// rollback ends a transaction that failed. SQLite has already ended it after
// some errors (a full disk); that this then fails means nothing.
func (t *tx) rollback() { _, _ = t.exec("ROLLBACK") }

// stmt returns q prepared. The context is never a caller's: the end of one must
// not undo the writes of the others in the group.
func (t *tx) stmt(q string) (*sql.Stmt, error) {
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

// exec runs one statement and returns how many rows it changed.
func (t *tx) exec(q string, args ...any) (int64, error) {
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

// row scans the first row of a SELECT; ok is false where there is none.
func (t *tx) row(q string, args []any, dest ...any) (ok bool, err error) {
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

// each calls scan for every row of a SELECT. scan must not use t.
func (t *tx) each(q string, args []any, scan func(*sql.Rows) error) error {
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

func (t *tx) close() {
	for _, st := range t.prepared {
		st.Close()
	}
	t.conn.Close()
}
