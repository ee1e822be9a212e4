//go:build cgo

package store

import (
	"database/sql"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
)

// What SQLite may not write is a matter of permissions, as callers know them.
func TestUnwritableIsPermission(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evolve.db")
	s, err := Open(t.Context(), path)
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
