package store

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// open opens a store in a fresh folder; it is closed with the test.
func open(t testing.TB) *Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "evolve", "evolve.db"))
}

func openAt(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// must stops the test on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpenModes(t *testing.T) {
	s := open(t)
	j := s.Journal("r1")
	must(t, j.SaveRollout(t.Context(), rollout("k1")))
	if _, _, err := j.Rollout(t.Context(), "k1"); err != nil { // a reader makes the -shm
		t.Fatal(err)
	}
	want := map[string]fs.FileMode{"": 0o600, "-wal": 0o600, "-shm": 0o600}
	for suffix, mode := range want {
		info, err := os.Stat(s.Path() + suffix)
		must(t, err)
		if info.Mode().Perm() != mode {
			t.Errorf("evolve.db%s has mode %v, want %v", suffix, info.Mode().Perm(), mode)
		}
	}
	info, err := os.Stat(filepath.Dir(s.Path()))
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("folder has mode %v, want 0700", info.Mode().Perm())
	}
}

func TestOpenTightensModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evolve.db")
	s, err := Open(t.Context(), path)
	must(t, err)
	must(t, s.Close())
	must(t, os.Chmod(path, 0o644))
	openAt(t, path)
	info, err := os.Stat(path)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v after Open, want 0600", info.Mode().Perm())
	}
}

func TestOpenOddPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "what? 100% #1 & süß", "evolve.db")
	s := openAt(t, path)
	must(t, s.Journal("r").SaveRollout(t.Context(), rollout("k")))
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Fatalf("no database at %s: %v", path, err)
	}
}

// TestOpenTogether has several handles create one database at the same moment.
func TestOpenTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evolve.db")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := Open(context.Background(), path)
			if err != nil {
				t.Errorf("open: %v", err)
				return
			}
			if err := s.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
	wg.Wait()
}

func TestOpenNewer(t *testing.T) {
	s := open(t)
	know := len(migrations())
	must(t, s.Do(t.Context(), func(x *tx) error {
		_, err := x.Exec("PRAGMA user_version = 99")
		return err
	}))
	must(t, s.Close())
	for name, f := range map[string]func(context.Context, string) (*Store, error){"Open": Open, "OpenReadOnly": OpenReadOnly} {
		_, err := f(t.Context(), s.Path())
		var newer *NewerError
		if !errors.As(err, &newer) || newer.Have != 99 || newer.Know != know {
			t.Errorf("%s of a newer database: %v", name, err)
		}
	}
}

func TestOpenDamaged(t *testing.T) {
	whole := open(t)
	for i := range 50 {
		must(t, whole.Journal("r").SaveRollout(t.Context(), rollout(strings.Repeat("k", i+1))))
	}
	must(t, whole.Close())
	good, err := os.ReadFile(whole.Path())
	must(t, err)

	torn := bytes.Clone(good)
	copy(torn[100:4096], bytes.Repeat([]byte{0xA5}, 3996)) // the page that holds the schema
	for name, content := range map[string][]byte{
		"text":        []byte(strings.Repeat("this is a letter, not a database\n", 200)),
		"torn schema": torn,
		"torn header": append(bytes.Repeat([]byte{0xA5}, 100), good[100:]...),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "evolve.db")
			must(t, os.WriteFile(path, content, 0o600))
			for name, f := range map[string]func(context.Context, string) (*Store, error){"Open": Open, "OpenReadOnly": OpenReadOnly} {
				_, err := f(t.Context(), path)
				var corrupt *CorruptError
				if !errors.As(err, &corrupt) || corrupt.Path != path {
					t.Errorf("%s: %v, want a CorruptError", name, err)
				}
			}
			after, err := os.ReadFile(path)
			must(t, err)
			if !bytes.Equal(after, content) {
				t.Error("the file was changed")
			}
			copies, _ := filepath.Glob(path + ".damaged-????????????")
			if len(copies) != 1 {
				t.Fatalf("copies %q, want one", copies)
			}
			if kept, err := os.ReadFile(copies[0]); err != nil || !bytes.Equal(kept, content) {
				t.Errorf("the copy is not what was found: %v", err)
			}
		})
	}
}

// TestDamageFoundLater: pages that Open does not read are found when a query
// does, and the error is the same.
func TestDamageFoundLater(t *testing.T) {
	s := open(t)
	for i := range 200 {
		must(t, s.Journal("r").SaveRollout(t.Context(), rollout(strings.Repeat("k", i+1))))
	}
	must(t, s.Close())
	b, err := os.ReadFile(s.Path())
	must(t, err)
	for at := len(b) / 2; at < len(b); at++ {
		b[at] = 0xA5
	}
	must(t, os.WriteFile(s.Path(), b, 0o600))
	again, err := Open(t.Context(), s.Path())
	if err == nil {
		defer again.Close()
		_, err = again.Rollouts(t.Context(), RolloutFilter{Run: "r"})
	}
	var corrupt *CorruptError
	if !errors.As(err, &corrupt) {
		t.Errorf("got %v, want a CorruptError", err)
	}
}

func TestOpenForeignDatabase(t *testing.T) {
	s := open(t)
	must(t, s.Do(t.Context(), func(x *tx) error {
		_, err := x.Exec("PRAGMA application_id = 7")
		return err
	}))
	must(t, s.Close())
	_, err := Open(t.Context(), s.Path())
	if err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("opened a foreign database: %v", err)
	}
}

func TestReadOnly(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none", "evolve.db")
	if _, err := OpenReadOnly(t.Context(), missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open of a missing file: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(missing)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("reading created the folder")
	}

	s := open(t)
	must(t, s.Journal("r").SaveRollout(t.Context(), rollout("k")))
	for _, writerOpen := range []bool{true, false} {
		if !writerOpen {
			must(t, s.Close())
		}
		ro, err := OpenReadOnly(t.Context(), s.Path())
		must(t, err)
		j := ro.Journal("r")
		if r, fresh, err := j.Rollout(t.Context(), "k"); err != nil || r == nil || !fresh {
			t.Errorf("writer open %v: read %v, %v, %v", writerOpen, r, fresh, err)
		}
		if err := j.SaveRollout(t.Context(), rollout("k2")); !errors.Is(err, ErrReadOnly) {
			t.Errorf("writer open %v: save gave %v, want ErrReadOnly", writerOpen, err)
		}
		must(t, ro.Close())
	}
}

// TestReadOnlyMigrates: an empty file, as a crash inside the first Open leaves
// it, is a database of version 0.
func TestReadOnlyMigrates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "evolve.db")
	must(t, os.WriteFile(path, nil, 0o600))
	ro, err := OpenReadOnly(t.Context(), path)
	must(t, err)
	defer ro.Close()
	runs, err := ro.Runs(t.Context(), "")
	if err != nil || len(runs) != 0 {
		t.Errorf("runs of an empty database: %v, %v", runs, err)
	}
}

func TestClosed(t *testing.T) {
	s := open(t)
	must(t, s.Close())
	must(t, s.Close())
	if err := s.Journal("r").SaveRollout(t.Context(), rollout("k")); !errors.Is(err, ErrClosed) {
		t.Errorf("save after close: %v", err)
	}
	if _, _, err := s.Journal("r").Rollout(t.Context(), "k"); !errors.Is(err, ErrClosed) {
		t.Errorf("read after close: %v", err)
	}
	if info, err := os.Stat(s.Path() + "-wal"); err == nil && info.Size() > 0 {
		t.Errorf("close left %d bytes in the log", info.Size())
	}
}
