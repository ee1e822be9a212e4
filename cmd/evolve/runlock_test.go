package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"
	"github.com/skill-evolve/evolve/tournament"
)

// A run that a process is at work on is neither resumed nor offered for it.
func TestRunIsWalkedByOneProcess(t *testing.T) {
	ctx := t.Context()
	a := testApp(t)
	db, err := a.store(ctx)
	if err != nil {
		t.Fatal(err)
	}
	const id = "20261120-000000-aaaaaa"
	if err := db.Journal(id).SaveRun(ctx, &tournament.Run{ID: id, Skill: "dataviz", Status: tournament.Running}); err != nil {
		t.Fatal(err)
	}
	next := func() string {
		t.Helper()
		r, err := a.gatherStatus(context.Background())
		if err != nil || len(r.Skills) != 1 || r.Skills[0].Unfinished == nil {
			t.Fatalf("%v", err)
		}
		return r.Skills[0].Unfinished.Status + ", " + r.Skills[0].Next
	}
	unlock, err := a.lockRun(id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.lockRun(id); err == nil || !strings.Contains(err.Error(), "another process is at work") {
		t.Errorf("locked twice: %v", err)
	}
	if _, err := a.prepareResume(ctx, &runFlags{resume: id}); err == nil || !strings.Contains(err.Error(), "another process is at work") {
		t.Errorf("resumed while it is at work: %v", err)
	}
	if got := next(); got != "running, wait: run "+id+" is at work" {
		t.Errorf("status says %q", got)
	}
	unlock()
	if got := next(); got != "killed, `evolve --resume "+id+"` goes on with the last run" {
		t.Errorf("status says %q after it", got)
	}
	unlock, err = a.lockRun(id)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// A night takes the lock of an earlier lease's night away, and of nobody else; whoever
// comes back does not remove the lock of the one that took it.
func TestRunLockOfAnEarlierNight(t *testing.T) {
	a := testApp(t)
	h, err := a.home()
	if err != nil {
		t.Fatal(err)
	}
	const id = "20261120-000000-bbbbbb"
	path := filepath.Join(string(h), "running", id)
	byHand, err := a.lockRun(id)
	if err != nil {
		t.Fatal(err)
	}
	if of := lockedUnder(path); of != 0 {
		t.Errorf("by hand it is locked under %d", of)
	}
	byHand()
	under := func(path string) *flock.Flock {
		l, err := tryLock(path)
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
	if busy, err := a.running(id); err != nil || !busy {
		t.Errorf("the one that came back took the other's lock: %v, %v", busy, err)
	}
	leave(second)
	if busy, err := a.running(id); err != nil || busy {
		t.Errorf("at the end it is locked: %v, %v", busy, err)
	}
}
