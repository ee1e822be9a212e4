//go:build unix

package install

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// swapped is a folder of skills, a victim elsewhere, and a function that puts a
// symlink to the victim in the folder's place; put gives the folder back.
func swapped(t *testing.T) (above, victim string, swap, put func()) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	above, victim = filepath.Join(base, "skills"), filepath.Join(base, "victim")
	n := 0
	aside := func() string { return filepath.Join(base, fmt.Sprint("aside", n)) }
	if err := errors.Join(os.Mkdir(above, 0o700), os.Mkdir(victim, 0o700)); err != nil {
		t.Fatal(err)
	}
	// In a race each of these may find another folder there, which then stays.
	swap = func() { n++; _ = errors.Join(os.Rename(above, aside()), os.Symlink(victim, above)) }
	put = func() { _ = errors.Join(syscall.Unlink(above), os.Rename(aside(), above)) }
	return above, victim, swap, put
}

// TestPlantFollowsNoNewSymlink: if at any point somebody replaces the
// recorded folder by a symlink, nothing is copied to its target, the copy
// fails, and no part of it is left.
func TestPlantFollowsNoNewSymlink(t *testing.T) {
	from := grown(t)
	files, err := Survey(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, when := range []step{"", opened, resolved, locked, compared, created, halfway, complete, renamed} {
		above, victim, swap, put := swapped(t)
		if when == "" {
			swap()
		}
		reached := when == ""
		err := plant(filepath.Join(above, "tagger"), from, files, []byte("new"), func(now step) {
			if now == when && !reached {
				reached = true
				swap()
			}
		})
		if !reached {
			t.Errorf("%s: not reached", when)
		}
		if err == nil {
			t.Errorf("swapped at %q: planted all the same", when)
		}
		if got := state(t, victim); len(got) != 1 {
			t.Errorf("swapped at %q: the victim holds %q", when, got)
		}
		put()
		if got := state(t, above); len(got) != 1 {
			t.Errorf("swapped at %q: the folder holds %q", when, got)
		}
	}
}

// The same if the folder does not exist yet, and a symlink replaces one above
// it.
func TestPlantMakesNoFolderBehindANewSymlink(t *testing.T) {
	from := grown(t)
	files, err := Survey(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, when := range []step{"", opened, resolved, complete} {
		above, victim, swap, put := swapped(t)
		if when == "" {
			swap()
		}
		done := when == ""
		err := plant(filepath.Join(above, "agent", "skills", "tagger"), from, files, []byte("new"), func(now step) {
			if now == when && !done {
				done = true
				swap()
			}
		})
		if err == nil || !done {
			t.Errorf("swapped at %q: %v", when, err)
		}
		if got := state(t, victim); len(got) != 1 {
			t.Errorf("swapped at %q: the victim holds %q", when, got)
		}
		put()
		if got := strings.Join(state(t, above), "\n"); strings.Contains(got, skill.FileName) {
			t.Errorf("swapped at %q: the folder holds %s", when, got)
		}
	}
}

// TestPlantAgainstASwappingLoop races with somebody who swaps the folder all the
// time: 20 copies, 1,000 with EVOLVE_LONG=1. What is said to be planted is in the
// folder itself, and the victim gets nothing.
func TestPlantAgainstASwappingLoop(t *testing.T) {
	from := grown(t)
	files, err := Survey(from)
	if err != nil {
		t.Fatal(err)
	}
	n := 20
	if os.Getenv("EVOLVE_LONG") == "1" {
		n = 1_000
	}
	above, victim, swap, put := swapped(t)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			swap()
			time.Sleep(50 * time.Microsecond)
			put()
			time.Sleep(time.Duration(rand.IntN(8)) * time.Millisecond)
		}
	}()
	said := map[string]bool{}
	for i := range n {
		name := fmt.Sprint("tagger", i)
		if err := Plant(filepath.Join(above, name), from, files, []byte("new")); err == nil {
			said[name] = true
		}
	}
	close(stop)
	<-stopped
	for _, line := range state(t, victim)[1:] {
		t.Errorf("the victim holds %s", line)
	}
	t.Logf("%d of %d planted", len(said), n)
	// Where the folder was gone for a moment, a new one may have been made, and the
	// old one could not come back.
	var entries []fs.DirEntry
	folders, _ := filepath.Glob(filepath.Join(filepath.Dir(above), "aside*"))
	for _, dir := range append(folders, above) {
		list, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		entries = append(entries, list...)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !said[e.Name()] {
			t.Errorf("%s is there and was said to have failed", e.Name())
		}
		delete(said, e.Name())
	}
	for name := range said {
		t.Errorf("%s was said to be planted and is not there", name)
	}
}
