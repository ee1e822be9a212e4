package lock

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/skill-evolve/evolve/store/datadir"
)

// A night takes a lock away only from the night of an earlier lease; when that resumes,
// it does not remove the lock of its successor.
func TestRunLockOfAnEarlierNight(t *testing.T) {
	k := Locks{Dir: datadir.Dir(t.TempDir()), Now: time.Now}
	const id = "20261120-000000-bbbbbb"
	path := filepath.Join(k.Dir.Running(), id)
	byHand, err := k.Run(t.Context(), id, nil)
	if err != nil {
		t.Fatal(err)
	}
	if of := lockedUnder(path); of != 0 {
		t.Errorf("by hand it is locked under %d", of)
	}
	byHand()
	under := func(path string) *flock.Flock {
		l, err := try(path)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	first := under(path)
	if first == nil || under(path) != nil {
		t.Fatal("it is locked by nobody, or twice")
	}
	if err := os.WriteFile(path, []byte(`{"lease":3}`), fileMode); err != nil || lockedUnder(path) != 3 {
		t.Fatalf("%v, locked under %d", err, lockedUnder(path))
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second := under(path)
	if second == nil {
		t.Fatal("not taken over")
	}
	leave(first)
	if busy, err := k.Running(id); err != nil || !busy {
		t.Errorf("the one that came back took the other's lock: %v, %v", busy, err)
	}
	leave(second)
	if busy, err := k.Running(id); err != nil || busy {
		t.Errorf("at the end it is locked: %v, %v", busy, err)
	}
}

// TestOneHolderAtATime: a process that opens the file of a lock just before its holder
// removes the file does not end up with a lock that no other process sees.
func TestOneHolderAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var holders, got atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 2000 {
				l, err := try(path)
				if err != nil {
					t.Error(err)
					return
				}
				if l == nil {
					continue
				}
				got.Add(1)
				if n := holders.Add(1); n > 1 {
					t.Errorf("%d have it", n)
				}
				runtime.Gosched()
				holders.Add(-1)
				leave(l)
			}
		})
	}
	all.Wait()
	if got.Load() == 0 {
		t.Error("nobody had it")
	}
}
