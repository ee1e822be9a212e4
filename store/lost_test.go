package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOpenLost: a database that was emptied or removed is not replaced by a new one
// while files of its use exist beside it.
func TestOpenLost(t *testing.T) {
	for _, c := range []struct {
		name    string
		db      bool // an empty file is there
		beside  []string
		folders []string
		lost    []string
	}{
		{name: "first use"},
		{name: "killed at the very beginning", db: true},
		{name: "hooks before the first use", beside: []string{"hooks/1f.json", "bus.jsonl", "config.yaml", "notes/x"}},
		{name: "empty folders", db: true, folders: []string{"staged/dataviz", "reports"}},
		{name: "moved away after damage, to begin anew", beside: []string{"evolve.db.damaged-12"}},
		{name: "emptied, staged", db: true, beside: []string{"staged/dataviz/12/SKILL.md"}, lost: []string{"staged/"}},
		{name: "emptied, reports", db: true, beside: []string{"reports/r1.html"}, lost: []string{"reports/"}},
		{name: "removed, both", beside: []string{"reports/r1.html", "staged/dataviz/12/SKILL.md"}, lost: []string{"staged/", "reports/"}},
		{name: "emptied, with its log", db: true, beside: []string{"evolve.db-wal"}, lost: []string{"evolve.db-wal"}},
		{name: "emptied, with a copy of damage", db: true, beside: []string{"evolve.db.damaged-12"}, lost: []string{"evolve.db.damaged-12"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "evolve.db")
			if c.db {
				must(t, os.WriteFile(path, nil, 0o600))
			}
			for _, name := range c.folders {
				must(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
			}
			for _, name := range c.beside {
				must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
				must(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
			}
			s, err := Open(t.Context(), path)
			if s != nil {
				must(t, s.Close())
			}
			var lost *LostError
			if c.lost == nil {
				must(t, err)
				must(t, Lost(path)) // it is in use from now on
				return
			}
			if !errors.As(err, &lost) || lost.Empty != c.db || !slices.Equal(lost.Beside, c.lost) || !strings.Contains(err.Error(), path) {
				t.Fatalf("%v, want a LostError with %q", err, c.lost)
			}
			if _, err := OpenReadOnly(t.Context(), path); !errors.As(err, &lost) {
				t.Errorf("OpenReadOnly: %v, want a LostError", err)
			}
			for _, name := range c.beside {
				if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != "x" {
					t.Errorf("%s was touched: %q, %v", name, b, err)
				}
			}
			if info, err := os.Stat(path); c.db != (err == nil) || c.db && info.Size() != 0 {
				t.Errorf("the file was touched: %v, %v", info, err)
			}
		})
	}
}
