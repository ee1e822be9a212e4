package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestLookingSeesWhatOthersWrite: a store that only reads sees every commit, of
// processes that begin and end while it is open, as soon as it was acknowledged.
func TestLookingSeesWhatOthersWrite(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "evolve.db")
	first, err := Open(ctx, path)
	must(t, err)
	must(t, first.Close())
	ro, err := OpenReadOnly(ctx, path)
	must(t, err)
	defer ro.Close()
	n := 0
	sees := func(when string) {
		t.Helper()
		got, err := ro.Rollouts(ctx, RolloutFilter{Run: "r"})
		if err != nil || len(got) != n {
			t.Fatalf("%s: %d rollouts, %v; want %d", when, len(got), err, n)
		}
	}
	sees("nobody has the database open")
	for range 3 {
		s, err := Open(ctx, path)
		must(t, err)
		sees("another process has opened it")
		for range 2 {
			n++
			must(t, s.Journal("r").SaveRollout(ctx, rollout(fmt.Sprint(n))))
			sees("another process writes")
		}
		must(t, s.Close())
		sees("the other process has ended")
	}
}

// TestLookingWhileOthersWrite: no query ever reads half of what another process folds
// in, and what was seen once is there for good.
func TestLookingWhileOthersWrite(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "evolve.db")
	openAt(t, path).Close()
	written := make(chan error, 1)
	go func() {
		written <- func() error {
			for k := range 15 {
				s, err := Open(context.Background(), path)
				if err == nil {
					err = errors.Join(s.Journal("r").SaveRollout(context.Background(), rollout(fmt.Sprint(k))), s.Close())
				}
				if err != nil {
					return err
				}
			}
			return nil
		}()
	}()
	seen := 0
	for done := false; !done; {
		select {
		case err := <-written:
			must(t, err)
			done = true
		default:
		}
		ro, err := OpenReadOnly(ctx, path)
		must(t, err)
		for range 5 {
			got, err := ro.Rollouts(ctx, RolloutFilter{Run: "r"})
			if err != nil || len(got) < seen {
				t.Fatalf("read %d rollouts, %v; %d were there before", len(got), err, seen)
			}
			seen = len(got)
		}
		must(t, ro.Close())
	}
	if seen != 15 {
		t.Errorf("%d rollouts at the end, want 15", seen)
	}
}

// TestCopy: what is written to a copy is seen there and nowhere else, and nothing of it
// stays.
func TestCopy(t *testing.T) {
	ctx := t.Context()
	used := open(t)
	must(t, used.Journal("r").SaveRollout(ctx, rollout("mine")))
	closed := filepath.Join(t.TempDir(), "evolve.db")
	s := openAt(t, closed)
	must(t, s.Journal("r").SaveRollout(ctx, rollout("mine")))
	must(t, s.Close())
	missing := filepath.Join(t.TempDir(), "evolve.db")
	t.Setenv("TMPDIR", t.TempDir())
	for path, had := range map[string]int{used.Path(): 1, closed: 1, missing: 0, unpackFixture(t, 1): 0} {
		before := traces(t, filepath.Dir(path))
		c, err := OpenCopy(ctx, path)
		must(t, err)
		must(t, c.Journal("r").SaveRollout(ctx, rollout("tried")))
		if got, err := c.Rollouts(ctx, RolloutFilter{Run: "r"}); err != nil || len(got) != had+1 {
			t.Errorf("%d rollouts in the copy, %v; want %d", len(got), err, had+1)
		}
		must(t, c.Close())
		if after := traces(t, filepath.Dir(path)); !slices.Equal(before, after) {
			t.Errorf("the copy left a trace:\n%q, then\n%q", before, after)
		}
		if left := bytesOf(t, os.TempDir()); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	}
	if got, err := used.Rollouts(ctx, RolloutFilter{Run: "r"}); err != nil || len(got) != 1 {
		t.Errorf("%d rollouts in the database, %v; want 1", len(got), err)
	}
}

// TestCopyOfDamage: damage in a copy is reported as the database's, and no copy of the
// database is kept: that would be a trace.
func TestCopyOfDamage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "evolve.db")
	must(t, os.WriteFile(path, []byte("a letter, not a database, however long it may be"), 0o600))
	before := traces(t, dir)
	_, err := OpenCopy(t.Context(), path)
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) || corrupt.Path != path || corrupt.Copy != "" {
		t.Errorf("%v, want a CorruptError about %s", err, path)
	}
	if after := traces(t, dir); !slices.Equal(before, after) {
		t.Errorf("a trace is left: %q, then %q", before, after)
	}
}

// TestEmpty: if there is no database, one with nothing in it can be read.
func TestEmpty(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, err := OpenEmpty(t.Context())
	must(t, err)
	if runs, err := s.Runs(t.Context(), ""); err != nil || len(runs) != 0 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
	if err := s.Journal("r").SaveRollout(t.Context(), rollout("k")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("save: %v, want ErrReadOnly", err)
	}
	must(t, s.Close())
	if left := bytesOf(t, os.TempDir()); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
