package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Reading a database in WAL mode leaves traces: every process that opens it, a reader
// too, makes a log and its index beside it, and may checkpoint the log. A view opens it
// so that neither happens:
//
//   - if both files exist, a process has the database open, or was killed. Opened with
//     mode=ro, SQLite reads both through the index, uses its own locks, and cannot
//     checkpoint;
//   - if there is no log, or an empty one, the database file is complete. Opened as
//     immutable, SQLite makes no files and takes no locks. That is right as long as the
//     file does not change, which is checked after every query;
//   - a log without its index (a home that was copied), or one that cannot be opened
//     there, is read in a private copy of both files.
//
// A database of an older schema is migrated in a private copy.

// A view is one way to read a database without a trace.
type view struct {
	db     *sql.DB
	schema Schema // the newest
	// live: SQLite's locks keep reads consistent and current. Otherwise main and log
	// are the files as they were before db was opened.
	live      bool
	main, log fs.FileInfo  // nil for none
	copy      *privateCopy // read by db, nil for none
	old       bool         // the copy is of an older schema
}

// lookTries is how often a query is repeated because the files changed meanwhile. Once
// a log and its index exist, changes no longer matter.
const lookTries = 10

// look opens a view of the database at path. A missing one is fs.ErrNotExist.
func look(ctx context.Context, path string, schema Schema) (v *view, err error) {
	for range lookTries {
		seen := view{schema: schema, main: fileInfo(path), log: fileInfo(path + "-wal")}
		if seen.main == nil {
			return nil, fs.ErrNotExist
		}
		if v, err = seen.look(ctx, path); err == nil && v.current(path) || err != nil && seen.current(path) {
			return v, err
		}
		if err == nil {
			err = errors.Join(errChanging, v.close())
		}
	}
	return nil, err
}

// errChanging is returned after too many repetitions.
var errChanging = errors.New("other processes keep changing it")

// look opens the database in the state that v describes.
func (v view) look(ctx context.Context, path string) (*view, error) {
	if err := v.open(ctx, path); err != nil {
		return nil, errors.Join(err, v.close())
	}
	have, err := schemaVersion(ctx, v.db, path, v.schema)
	if err != nil {
		return nil, errors.Join(err, v.close())
	}
	if have == len(v.schema) {
		return &v, nil
	}
	next := &view{schema: v.schema, main: v.main, log: v.log, old: true}
	err = next.copied(ctx, path, v.db)
	if err == nil && !v.current(path) {
		err = errChanging
	}
	if err = errors.Join(err, v.close()); err != nil {
		return nil, errors.Join(err, next.close())
	}
	return next, nil
}

func (v *view) open(ctx context.Context, path string) (err error) {
	if fileInfo(path+"-wal") != nil && fileInfo(path+"-shm") != nil {
		if v.db, err = connect(ctx, readDSN(path), readers); err == nil {
			v.live = true
			return nil
		} else if kind := kindOf(err); kind == damaged || kind == foreign || ctx.Err() != nil {
			return err
		}
	}
	if v.log == nil || v.log.Size() == 0 {
		v.db, err = connect(ctx, frozenDSN(path), readers)
		return err
	}
	to, err := v.private(path)
	if err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(path+suffix, to+suffix); err != nil {
			return err
		}
	}
	v.db, err = connect(ctx, readDSN(to), readers)
	return err
}

// copied reads a private copy, with the newest schema, of the database at path, which
// from reads (nil: there is none).
func (v *view) copied(ctx context.Context, path string, from *sql.DB) error {
	to, err := v.private(path)
	if err != nil {
		return err
	}
	if from != nil {
		if err := backup(ctx, from, to); err != nil {
			return err
		}
	}
	s, err := openFile(ctx, to, forgetful, v.schema)
	if err == nil {
		err = s.Close()
	}
	if err == nil {
		v.db, err = connect(ctx, frozenDSN(to), readers)
	}
	return err
}

// private makes a place for a copy of the database at path, and names the copy.
func (v *view) private(path string) (to string, err error) {
	if v.copy, err = newPrivateCopy(path); err != nil {
		return "", fmt.Errorf("copy the database: %w", err)
	}
	return filepath.Join(v.copy.dir, "evolve.db"), nil
}

// current reports whether reads are consistent and up to date. A copy of an older
// schema is valid until the database itself is migrated.
func (v *view) current(path string) bool {
	return v.live || same(v.main, fileInfo(path)) && (v.old || same(v.log, fileInfo(path+"-wal")))
}

func (v *view) close() (err error) {
	if v.db != nil {
		err = v.db.Close()
	}
	return errors.Join(err, v.copy.remove())
}

// frozenDSN opens a database that no process writes to: no file is made and no lock
// taken.
func frozenDSN(path string) string { return fileURI(path) + "?immutable=1&_query_only=on" }

// fileInfo describes a file, nil for none.
func fileInfo(path string) fs.FileInfo {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}

// same reports whether a file was unchanged between two looks at it; an empty log
// equals none.
func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return (a == nil || a.Size() == 0) && (b == nil || b.Size() == 0)
	}
	return a.Size() == b.Size() && (a.Size() == 0 || os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()))
}

// copyFile copies a file to a new one that only its owner can read.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = io.Copy(out, in)
		err = errors.Join(err, out.Close())
	}
	return Named(err, "copy the database")
}

// OpenReadOnly opens an existing database for commands that only read. They leave no
// trace: no file is made beside it or changed, whatever a killed process has left
// there. Each query sees one consistent state, whatever processes write meanwhile. A
// missing database is an error that wraps fs.ErrNotExist; one of an older schema is
// read in a migrated copy, and is itself not changed. Every method that writes fails
// with ErrReadOnly.
func OpenReadOnly(ctx context.Context, path string, schema Schema) (*DB, error) {
	if err := DriverMissing(); err != nil {
		return nil, err
	}
	if err := Lost(path); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	v, err := look(ctx, path, schema)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, explain(err, path))
	}
	s := lookingAt(path, v)
	if v.main.Size() <= checkedAtOpen {
		if err := s.reading(ctx, func(db *sql.DB) error { return checkPages(ctx, db) }); err != nil {
			return nil, errors.Join(fmt.Errorf("open store %s: %w", path, explain(err, path)), s.Close())
		}
	}
	return s, nil
}

// OpenEmpty opens an empty store, for commands that only read if there is no database
// yet. Every method that writes fails with ErrReadOnly.
func OpenEmpty(ctx context.Context, schema Schema) (*DB, error) {
	if err := DriverMissing(); err != nil {
		return nil, err
	}
	v := &view{schema: schema}
	if err := v.copied(ctx, "", nil); err != nil {
		return nil, fmt.Errorf("open store: %w", errors.Join(err, v.close()))
	}
	return lookingAt("", v), nil
}

// OpenCopy opens a private copy of the database at path, an empty one if there is none,
// for computing what a command would do: it can be written to, and is removed when it
// is closed. The database itself is not touched.
func OpenCopy(ctx context.Context, path string, schema Schema) (*DB, error) {
	if err := DriverMissing(); err != nil {
		return nil, err
	}
	if err := Lost(path); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	copied := &view{}
	to, err := copied.private(path)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	var s *DB
	err = snapshot(ctx, path, to, schema)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		s, err = openFile(ctx, to, forgetful, schema)
	}
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, explain(errors.Join(err, copied.close()), path))
	}
	s.copy, s.path = copied.copy, path
	return s, nil
}

// snapshot copies the database at path, in one consistent state, into a new file.
func snapshot(ctx context.Context, path, to string, schema Schema) error {
	for range lookTries {
		v, err := look(ctx, path, schema)
		if err != nil {
			return err
		}
		err = backup(ctx, v.db, to)
		whole := v.current(path)
		if err = errors.Join(err, v.close()); err != nil || whole {
			return err
		}
		if err := os.Remove(to); err != nil {
			return err
		}
	}
	return errChanging
}

func lookingAt(path string, v *view) *DB {
	return &DB{path: path, schema: v.schema, readOnly: true, view: v, closing: make(chan struct{})}
}

// reading calls f with a handle to read from; it calls f again if another process has
// changed the database meanwhile, so that f may have read an inconsistent state.
func (s *DB) reading(ctx context.Context, f func(*sql.DB) error) error {
	if s.view == nil {
		return f(s.read)
	}
	for range lookTries {
		s.looking.RLock()
		v := s.view
		err := f(v.db)
		now := v.current(s.path)
		s.looking.RUnlock()
		if now {
			return err
		}
		if err := s.lookAgain(ctx, v); err != nil {
			return err
		}
	}
	return fmt.Errorf("read %s: %w", s.path, errChanging)
}

// lookAgain replaces a view that is no longer current.
func (s *DB) lookAgain(ctx context.Context, was *view) error {
	s.looking.Lock()
	defer s.looking.Unlock()
	if s.view != was {
		return nil
	}
	v, err := look(ctx, s.path, was.schema)
	if err != nil {
		return err
	}
	s.view = v
	return was.close()
}

// Peek opens the database at path for reading without a trace, whatever its schema. A
// missing one is an error that wraps fs.ErrNotExist.
func Peek(ctx context.Context, path string) (db *sql.DB, done func() error, err error) {
	if err := DriverMissing(); err != nil {
		return nil, nil, err
	}
	v := &view{log: fileInfo(path + "-wal")}
	if _, err = os.Stat(path); err == nil {
		err = v.open(ctx, path)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("peek at store: %w", errors.Join(err, v.close()))
	}
	return v.db, v.close, nil
}
