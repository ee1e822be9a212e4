package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/status"
)

// A run that was killed while it mined is in the status: when, what it cost, and what
// continues it.
func TestStatusOfARunKilledWhileMining(t *testing.T) {
	ctx := t.Context()
	a := testApp(t)
	db, err := a.store(ctx)
	if err != nil {
		t.Fatal(err)
	}
	see := func() (*status.Skill, string) {
		t.Helper()
		r, err := gatherStatus(ctx, a)
		if err != nil {
			t.Fatal(err)
		}
		return &r.Skills[0], r.Text(80, false)
	}
	const id = "20261122-100000-abcdef"
	if err := db.BeginRun(ctx, "dataviz", id); err != nil {
		t.Fatal(err)
	}
	if err := db.SaveRunTime(ctx, id, 5*time.Minute); err != nil {
		t.Fatal(err)
	}
	if s, out := see(); s.Unfinished == nil || s.Unfinished.Status != "interrupted" || !strings.Contains(out, "(mining: 0 calls)") {
		t.Errorf("unfinished %+v in\n%s\nwant a run that ended by itself", s.Unfinished, out)
	}
	usd := 0.25
	for _, key := range []string{"aa", "bb"} {
		c := &eval.Completion{Text: "x", CostUSD: &usd, Usage: &eval.Usage{Input: 10, Output: 1}}
		if err := db.Journal(id).SaveCompletion(ctx, strings.Repeat(key, 32), eval.ByMiner, c); err != nil {
			t.Fatal(err)
		}
	}
	home, err := a.home()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home.Running(), id)
	if err := os.MkdirAll(home.Running(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil { // as a killed process leaves it
		t.Fatal(err)
	}
	lockedAt := func(t0 time.Time) {
		t.Helper()
		if err := os.Chtimes(path, t0, t0); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	lockedAt(began)
	at := began.Add(5 * time.Minute).Local().Format("2006-01-02 15:04")
	want := "`evolve --skill dataviz`: killed " + at + " (mining: 2 calls, $0.50)"
	if s, out := see(); s.Unfinished == nil || s.Unfinished.Status != "killed" || strings.Count(out, want) != 2 {
		t.Errorf("unfinished %+v in\n%s\nwant %s, and as the next step", s.Unfinished, out, want)
	}
	lockedAt(began.Add(70 * time.Hour)) // the same command, later, and killed again
	if _, out := see(); !strings.Contains(out, "killed "+began.Add(70*time.Hour).Local().Format("2006-01-02 15:04")) {
		t.Errorf("the later process was killed later:\n%s", out)
	}
	unlock, err := lockRun(a, id)
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := see(); s.Unfinished == nil || s.Next != "wait: run "+id+" is at work" {
		t.Errorf("next %q while it mines", s.Next)
	}
	unlock()
	if err := db.Journal("later").SaveRun(ctx, &record.Run{ID: "20261122-110000-abcdef", Skill: "dataviz", Status: record.Finished, Started: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if s, _ := see(); s.Unfinished != nil {
		t.Errorf("%+v, although a later run has ended", s.Unfinished)
	}
}
