// Package sqlite opens one SQLite file so that what was acknowledged survives a power
// loss: group commit, schema versions, reading without a trace, and damage.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A DB is an open database. It is safe for concurrent use. It is in WAL mode with
// synchronous=FULL: what a method has acknowledged survives a kill and a power loss. All
// writes of a process pass through one goroutine, which commits concurrent ones together;
// several processes may share a database.
type DB struct {
	path   string
	schema Schema
	read   *sql.DB
	// write has a single connection, which the writer goroutine holds; nil in a
	// read-only store.
	write *sql.DB

	jobs      chan *job
	closing   chan struct{}
	stopped   chan struct{} // closed when the writer goroutine has ended
	closeOnce sync.Once
	closeErr  error

	readOnly bool
	looking  sync.RWMutex // held while view is read from
	view     *view        // what a read-only store reads from
	copy     *privateCopy // the copy that this is, nil for none

	damageOnce sync.Once
	damage     atomic.Pointer[CorruptError] // the first damage found; nil for none
}

// readers is the size of the pool of reading connections.
const readers = 4

// Open opens the database at path for reading and writing. It creates the file (mode
// 0600) and its folder (0700) if they are missing, and migrates an older schema. Errors
// that a caller may want to distinguish are *NewerError, *CorruptError and *LostError.
func Open(ctx context.Context, path string, schema Schema) (*DB, error) {
	if err := DriverMissing(); err != nil {
		return nil, err
	}
	if err := Lost(path); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return openFile(ctx, path, durable, schema)
}

// How much of what was saved survives a crash of the machine.
const (
	durable   = "FULL" // all of it
	forgetful = "OFF"  // anything: for a copy, which is removed anyway
)

// openFile is Open for a file that is known not to be lost.
func openFile(ctx context.Context, path, synchronous string, schema Schema) (*DB, error) {
	if err := prepareFile(path); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &DB{path: path, schema: schema,
		jobs: make(chan *job), closing: make(chan struct{}), stopped: make(chan struct{})}
	var err error
	if s.write, err = connect(ctx, writeDSN(path, synchronous), 1); err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, s.Explain(err))
	}
	if err := s.prepare(ctx); err != nil {
		err = s.Explain(err) // before closing, which may write
		s.write.Close()
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	if s.read, err = connect(ctx, readDSN(path), readers); err != nil {
		err = s.Explain(err)
		s.write.Close()
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	conn, err := s.write.Conn(ctx)
	if err != nil {
		err = s.Explain(err)
		s.read.Close()
		s.write.Close()
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}
	go s.writer(conn)
	return s, nil
}

// prepare makes sure that the database is evolve's and whole, and migrates it.
func (s *DB) prepare(ctx context.Context) error {
	if _, err := schemaVersion(ctx, s.write, s.path, s.schema); err != nil {
		return err
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	if info.Size() <= checkedAtOpen {
		if err := checkPages(ctx, s.write); err != nil {
			return err
		}
	}
	return migrate(ctx, s.write, s.path, s.schema)
}

// Close waits for writes that were accepted, checkpoints the write-ahead log and closes
// the database. Methods called afterwards fail with ErrClosed. It may be called more
// than once.
func (s *DB) Close() error {
	s.closeOnce.Do(func() {
		close(s.closing)
		if s.view != nil {
			s.looking.Lock()
			defer s.looking.Unlock()
			s.closeErr = s.view.close()
			return
		}
		errRead := s.read.Close()
		<-s.stopped
		// If another process is reading the log, the last one checkpoints it; nothing
		// is lost.
		_, errFold := s.write.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
		if kindOf(errFold) == full {
			errFold = nil // the log is safe on disk, and is kept
		}
		s.closeErr = errors.Join(errRead, errFold, s.write.Close())
		s.closeErr = errors.Join(s.closeErr, s.copy.remove())
		if s.closeErr != nil {
			s.closeErr = fmt.Errorf("close store %s: %w", s.path, s.Explain(s.closeErr))
		}
	})
	return s.closeErr
}

// prepareFile creates the folder and the file with modes that only the owner can read.
// SQLite gives its -wal and -shm files the mode of the database.
func prepareFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 == 0 {
			continue
		}
		if err := os.Chmod(path+suffix, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// connect opens a pool and makes its first connection. Turning on WAL takes a lock that
// SQLite does not wait for, so two processes that create a database together may
// conflict; the loser tries again.
func connect(ctx context.Context, dsn string, conns int) (*sql.DB, error) {
	db, err := sql.Open("sqlite3", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	for tries := 0; ; tries++ {
		if err = db.PingContext(ctx); err == nil {
			return db, nil
		}
		if kindOf(err) != busy || tries == 50 || !pause(ctx, 20*time.Millisecond) {
			db.Close()
			return nil, err
		}
	}
}

// pause waits for d; it is false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// writeDSN uses immediate transactions, because a deferred one that reads and then
// writes fails with SQLITE_BUSY if another process wrote in between, and secure_delete,
// so that what is purged is overwritten.
func writeDSN(path, synchronous string) string {
	return fileURI(path) + "?mode=rw&_journal_mode=WAL&_synchronous=" + synchronous + "&_busy_timeout=5000" +
		"&_txlock=immediate&_foreign_keys=on&_secure_delete=on"
}

func readDSN(path string) string {
	return fileURI(path) + "?mode=ro&_busy_timeout=5000&_query_only=on"
}

// fileURI escapes path, so that ?, # and % in it are not taken for syntax.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if filepath.IsAbs(path) && !strings.HasPrefix(path, "/") {
		path = "/" + path // a Windows drive
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath()
}

// Path is where the database is.
func (s *DB) Path() string { return s.path }

// ReadOnly reports whether every write fails with ErrReadOnly.
func (s *DB) ReadOnly() bool { return s.readOnly }
