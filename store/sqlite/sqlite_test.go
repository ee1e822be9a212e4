//go:build cgo

package sqlite

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var words = Schema{"CREATE TABLE words (word TEXT)"}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What SQLite may not write is a matter of permissions, as callers know them.
func TestUnwritableIsPermission(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evolve.db")
	s, err := Open(t.Context(), path, words)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "CREATE TABLE x (y)")
	if err == nil || !errors.Is(explain(err, path), fs.ErrPermission) {
		t.Errorf("a write gave %v, which is explained as %v", err, explain(err, path))
	}
}

// TestDamageNoCopy: if no copy can be made, the error contains the reason, and nothing
// is written either.
func TestDamageNoCopy(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "evolve.db"), words)
	must(t, err)
	defer s.Close()
	path := s.path
	s.path = filepath.Join(t.TempDir(), "gone", "evolve.db") // where no copy can be put
	err = s.Explain(&damageError{"a page is gone"})
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || corrupt.Copy != "" || corrupt.NoCopy == nil {
		t.Fatalf("%#v", corrupt)
	}
	if err := s.Exec(t.Context(), `INSERT INTO words VALUES (1)`); !errors.As(err, &corrupt) {
		t.Errorf("saved all the same: %v", err)
	}
	s.path = path
}

// TestSweepCopies: the copy that a killed process has left is removed; that of one that
// lives is not, nor that of another database, nor what only has such a name.
func TestSweepCopies(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	mine, others := filepath.Join(t.TempDir(), "evolve.db"), filepath.Join(t.TempDir(), "evolve.db")
	lives, err := OpenCopy(t.Context(), mine, words)
	must(t, err)
	defer lives.Close()
	left := func(of string) string {
		c, err := newPrivateCopy(of)
		must(t, err)
		must(t, c.lock.Close()) // as the end of its process does
		return c.dir
	}
	killed := left(mine)
	left(others)
	must(t, os.Mkdir(filepath.Join(os.TempDir(), copyPrefix+"1"), 0o700))
	if got := SweepCopies(mine); !slices.Equal(got, []string{killed}) {
		t.Errorf("removed %q, want %q", got, killed)
	}
	if entries, err := os.ReadDir(os.TempDir()); err != nil || len(entries) != 3 {
		t.Errorf("%d folders are left, want 3 (%v)", len(entries), err)
	}
}
