package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval/scratch"
	"github.com/skill-evolve/evolve/harvest/purge"
)

// leftBy makes the folder of a case in TMPDIR as a run of the data folder home
// does; the run is killed, or goes on until the test ends.
func leftBy(t *testing.T, home string, killed bool) string {
	t.Helper()
	ledger := scratch.Keep(home)
	dir, err := scratch.Dir("", "evolve-case-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "locked"), 0o500); err != nil {
		t.Fatal(err)
	}
	if killed { // the ledger stays where what it lists does
		if err := ledger.Close(); err != nil {
			t.Fatal(err)
		}
	} else {
		t.Cleanup(func() { ledger.Close() })
	}
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(dir, old, old); err != nil {
		t.Fatal(err)
	}
	return dir
}

// foreignFolders makes what others may have in TMPDIR, whatever it is called.
func foreignFolders(t *testing.T) (dirs []string) {
	t.Helper()
	old := time.Now().Add(-48 * time.Hour)
	for _, name := range []string{"evolve-case-study", "evolve-case-22", "evolve-replay-mine", "evolve-replay-7", "other-1"} {
		dir := filepath.Join(os.TempDir(), name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "thesis.md"), []byte("years of work\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// What a killed run of this data folder left behind is removed; nothing else is,
// whatever its name and its age.
func TestSweep(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	home := t.TempDir()
	t.Setenv("EVOLVE_HOME", home)
	killed, other, live := leftBy(t, home, true), leftBy(t, t.TempDir(), true), leftBy(t, home, false)
	foreign := foreignFolders(t)
	sweepTemporary(newGlobal(nil, nil, nil))
	if isThere(killed) {
		t.Error("what a killed run left is still there")
	}
	for _, dir := range append(foreign, other, live) {
		if !isThere(dir) {
			t.Errorf("%s was removed, and is not ours", dir)
		}
	}
}

// A purge removes what killed runs left, leaves others' folders alone, and
// names those that only their owner can identify.
func TestPurgeTemporary(t *testing.T) {
	claude, home := person(t), t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	if code, _, errs := runHere(t, home, "harvest", "--claude-home", claude); code != exitDone {
		t.Fatalf("exit %d: %s", code, errs)
	}
	killed, other, live := leftBy(t, home, true), leftBy(t, t.TempDir(), true), leftBy(t, home, false)
	foreign := foreignFolders(t)
	code, out, errs := runHere(t, home, "sessions", "purge", "--all", "--yes", "--json", "--claude-home", claude)
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var p purge.Result
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		t.Fatal(err)
	}
	if isThere(killed) || !slices.Contains(p.Files, killed) {
		t.Errorf("%s: removed %q", killed, p.Files)
	}
	for _, dir := range append(foreign, other, live) {
		if !isThere(dir) {
			t.Errorf("%s was removed, and is not ours", dir)
		}
	}
	for _, dir := range append(foreign, live) {
		if want := scratch.Own(dir) && dir != live; slices.Contains(p.Left, dir) != want {
			t.Errorf("left %q; names %s: %v, want %v", p.Left, dir, !want, want)
		}
	}
}
