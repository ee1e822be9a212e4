package scratch

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func ledgers(t *testing.T, home string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(home, Folder, "*"+extension))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// kill lets go of a ledger's lock as the end of its process does.
func kill(t *testing.T, l *Ledger) {
	t.Helper()
	mu.Lock()
	open = slices.DeleteFunc(open, func(o *Ledger) bool { return o == l })
	mu.Unlock()
	if err := l.lock.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestSweep(t *testing.T) {
	home, other, temp := t.TempDir(), t.TempDir(), t.TempDir()
	foreign := filepath.Join(temp, "evolve-case-4711")
	if err := os.Mkdir(foreign, 0o700); err != nil {
		t.Fatal(err)
	}
	l := Keep(home)
	dir, err := Dir(temp, "evolve-case-")
	if err != nil {
		t.Fatal(err)
	}
	f, err := File(temp, "evolve-case-*.tar")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := l.file.WriteString("relative/evolve-case-1\n" + filepath.Join(temp, "evolve-case-study") + "\n" + home + "\n"); err != nil {
		t.Fatal(err)
	}
	study := filepath.Join(temp, "evolve-case-study")
	if err := os.Mkdir(study, 0o700); err != nil {
		t.Fatal(err)
	}
	if removed, left, err := Sweep(home, os.RemoveAll); len(removed)+len(left) != 0 || err != nil {
		t.Fatalf("what a live process uses is taken: %q, %q, %v", removed, left, err)
	}
	if listed := Listed(home); !slices.Equal(listed, []string{dir, f.Name()}) || Listed(other) != nil {
		t.Errorf("%q are listed", listed)
	}
	kill(t, l)
	if removed, _, err := Sweep(other, os.RemoveAll); len(removed) != 0 || err != nil {
		t.Fatalf("another data folder takes it: %q, %v", removed, err)
	}
	refuse := func(string) error { return os.ErrPermission }
	if removed, left, err := Sweep(home, refuse); len(removed) != 0 || len(left) != 2 || err != nil || len(ledgers(t, home)) != 1 {
		t.Fatalf("what cannot be removed is forgotten: %q, %q, %v", removed, left, err)
	}
	removed, left, err := Sweep(home, os.RemoveAll)
	if !slices.Equal(removed, []string{dir, f.Name()}) || len(left) != 0 || err != nil {
		t.Errorf("removed %q, left %q, %v", removed, left, err)
	}
	if exists(dir) || exists(f.Name()) || !exists(foreign) || !exists(study) || !exists(home) {
		t.Error("the wrong folders are gone")
	}
	if found := ledgers(t, home); len(found) != 0 {
		t.Errorf("ledgers are left: %q", found)
	}
}

// A link in place of a folder is not followed, and not removed.
func TestSweepLink(t *testing.T) {
	home, temp, target := t.TempDir(), t.TempDir(), t.TempDir()
	l := Keep(home)
	dir, err := Dir(temp, "evolve-replay-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, dir); err != nil {
		t.Fatal(err)
	}
	kill(t, l)
	if removed, left, err := Sweep(home, os.RemoveAll); len(removed)+len(left) != 0 || err != nil || !exists(target) {
		t.Errorf("removed %q, left %q, %v", removed, left, err)
	}
}

func TestClose(t *testing.T) {
	home, temp := t.TempDir(), t.TempDir()
	l := Keep(home)
	if err := l.Close(); err != nil || exists(filepath.Join(home, Folder)) {
		t.Fatalf("a ledger of nothing was written: %v", err)
	}
	for _, stays := range []bool{false, true} {
		l = Keep(home)
		dir, err := Dir(temp, "evolve-guard-")
		if err != nil {
			t.Fatal(err)
		}
		if !stays {
			if err := os.Remove(dir); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if n := len(ledgers(t, home)); (n == 1) != stays {
			t.Errorf("%d ledgers, what is listed stays: %v", n, stays)
		}
	}
	if removed, _, err := Sweep(home, os.RemoveAll); len(removed) != 1 || err != nil {
		t.Errorf("removed %q, %v", removed, err)
	}
	// A ledger within another ends, and the other counts again.
	outer := Keep(home)
	if err := Keep(t.TempDir()).Close(); err != nil || kept() != outer {
		t.Errorf("the outer ledger is lost: %v", err)
	}
	if err := outer.Close(); err != nil {
		t.Fatal(err)
	}
	// Without a data folder there is no ledger, and all the same a folder.
	if dir, err := Dir(temp, "evolve-case-"); err != nil || !Own(dir) {
		t.Errorf("%q, %v", dir, err)
	}
}

// If the ledger cannot be written, nothing is made that would never be found again.
func TestNoLedger(t *testing.T) {
	temp := t.TempDir()
	file := filepath.Join(temp, "no-folder")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer Keep(file).Close()
	if dir, err := Dir(temp, "evolve-case-"); err == nil {
		t.Errorf("%s was made, and is listed nowhere", dir)
	}
	if left, err := filepath.Glob(filepath.Join(temp, "evolve-*")); len(left) != 0 || err != nil {
		t.Errorf("%q are left, %v", left, err)
	}
}

func TestOwn(t *testing.T) {
	for path, want := range map[string]bool{"/t/evolve-case-1": true, "/t/evolve-replay-123": true, "/t/evolve-guard-9": true, "/t/evolve-case-77.tar": true,
		"/t/evolve-case-study": false, "/t/evolve-case-": false, "/t/evolve-case-1x": false, "/t/my-evolve-case-1": false, "/t/evolve-demo-1": false, "/t/evolve-replay-7.tar": false} {
		if Own(path) != want {
			t.Errorf("Own(%q) is %v", path, !want)
		}
	}
}
