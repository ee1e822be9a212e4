package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// traces tells every file of a folder by its mode, its content and when it was
// changed, but for the index of the log: that is memory which processes share.
func traces(t *testing.T, dir string) (out []string) {
	t.Helper()
	for _, line := range bytesOf(t, dir) {
		name, rest, _ := strings.Cut(line, " ")
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		if strings.HasSuffix(name, "-shm") {
			rest = ""
		}
		out = append(out, fmt.Sprint(name, info.Mode(), rest))
	}
	info, err := os.Stat(dir)
	must(t, err)
	return append(out, fmt.Sprint(info.ModTime()))
}

// killedAt is what is left of a database whose process is killed now: its files
// without the locks on them.
func killedAt(t *testing.T, s *Store, suffixes ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "evolve.db")
	for _, suffix := range append(suffixes, "") {
		b, err := os.ReadFile(s.Path() + suffix)
		must(t, err)
		must(t, os.WriteFile(path+suffix, b, 0o600))
	}
	return path
}

// TestLookingLeavesNoTrace: in whatever state a database is found, what is read is all
// that was committed, and every file is afterwards what it was.
func TestLookingLeavesNoTrace(t *testing.T) {
	used := open(t)
	must(t, used.Journal("r").SaveRollout(t.Context(), rollout("folded in")))
	checkpoint(t, used, "TRUNCATE") // the log holds the second one alone
	must(t, used.Journal("r").SaveRollout(t.Context(), rollout("in the log")))
	killed := killedAt(t, used, "-wal", "-shm")
	copied := killedAt(t, used, "-wal")
	closed := filepath.Join(t.TempDir(), "evolve.db")
	s := openAt(t, closed)
	must(t, s.Journal("r").SaveRollout(t.Context(), rollout("folded in")))
	must(t, s.Journal("r").SaveRollout(t.Context(), rollout("too")))
	must(t, s.Close())
	t.Setenv("TMPDIR", t.TempDir())
	for name, path := range map[string]string{"in use": used.Path(), "killed": killed, "killed, and copied without its index": copied, "closed": closed} {
		t.Run(name, func(t *testing.T) {
			before := traces(t, filepath.Dir(path))
			for range 2 {
				ro, err := OpenReadOnly(t.Context(), path)
				must(t, err)
				got, err := ro.Rollouts(t.Context(), RolloutFilter{Run: "r"})
				if err != nil || len(got) != 2 {
					t.Errorf("read %d rollouts, %v; want 2", len(got), err)
				}
				must(t, ro.Check(t.Context()))
				must(t, ro.Close())
				if after := traces(t, filepath.Dir(path)); !slices.Equal(before, after) {
					t.Errorf("looking left a trace:\n%q, then\n%q", before, after)
				}
			}
		})
	}
	if left := bytesOf(t, os.TempDir()); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestLookingMigratesACopy: a database of any older schema is read with the newest one,
// and keeps its own.
func TestLookingMigratesACopy(t *testing.T) {
	for n := 1; n <= 10; n++ {
		path := unpackFixture(t, n)
		t.Setenv("TMPDIR", t.TempDir())
		before := traces(t, filepath.Dir(path))
		ro, err := OpenReadOnly(t.Context(), path)
		must(t, err)
		if runs, err := ro.Runs(t.Context(), ""); err != nil || len(runs) == 0 {
			t.Errorf("schema %d: %d runs, %v", n, len(runs), err)
		}
		if _, err := ro.Homes(t.Context(), "dataviz"); err != nil {
			t.Errorf("schema %d: %v", n, err)
		}
		must(t, ro.Close())
		if after := traces(t, filepath.Dir(path)); !slices.Equal(before, after) {
			t.Errorf("schema %d: looking left a trace:\n%q, then\n%q", n, before, after)
		}
		if left := bytesOf(t, os.TempDir()); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	}
}
