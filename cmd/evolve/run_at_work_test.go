package main

import (
	"context"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/tournament/record"
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
	if err := db.Journal(id).SaveRun(ctx, &record.Run{ID: id, Skill: "dataviz", Status: record.Running}); err != nil {
		t.Fatal(err)
	}
	next := func() string {
		t.Helper()
		r, err := gatherStatus(context.Background(), a)
		if err != nil || len(r.Skills) != 1 || r.Skills[0].Unfinished == nil {
			t.Fatalf("%v", err)
		}
		return r.Skills[0].Unfinished.Status + ", " + r.Skills[0].Next
	}
	unlock, err := lockRun(a, id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockRun(a, id); err == nil || !strings.Contains(err.Error(), "another process is at work") {
		t.Errorf("locked twice: %v", err)
	}
	if _, err := prepareRun(ctx, a, &runFlags{resume: id}); err == nil || !strings.Contains(err.Error(), "another process is at work") {
		t.Errorf("resumed while it is at work: %v", err)
	}
	if got := next(); got != "running, wait: run "+id+" is at work" {
		t.Errorf("status says %q", got)
	}
	unlock()
	if got := next(); got != "killed, `evolve --resume "+id+"` continues the last run" {
		t.Errorf("status says %q after it", got)
	}
	unlock, err = lockRun(a, id)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// lockRun takes the lock of a run; unlock releases it. A command that works on a copy of
// the database needs no lock: no other process writes to the copy.
func lockRun(a *global, id string) (unlock func(), err error) {
	if a.access != datadir.Writes {
		return func() {}, nil
	}
	k, err := a.locks()
	if err != nil {
		return nil, err
	}
	return k.Run(context.Background(), id, nil)
}
