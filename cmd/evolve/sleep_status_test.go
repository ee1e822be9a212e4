package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/tournament/sleep"
)

// TestSleepStatusIsOnePage: however much waits, the page has ten lines, the alarms
// first.
func TestSleepStatusIsOnePage(t *testing.T) {
	t.Parallel()
	b := newBedroom(t)
	db := b.store()
	j := sleep.Stored(db)
	l, err := j.Acquire(t.Context(), "test", b.now, b.now.Add(time.Hour), func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	n := &sleep.Night{Schema: 1, ID: "n", Generation: l.Generation, Began: b.now, Ended: b.now, Steps: []sleep.Step{{Kind: sleep.Harvest, Stage: sleep.Done}}}
	for i := range 9 {
		n.Steps = append(n.Steps, sleep.Step{Kind: sleep.Install, Skill: fmt.Sprint("skill", i), Stage: sleep.Skipped, Note: "better, and waits", Result: &sleep.Result{Challenger: "abc"}})
	}
	n.Steps = append(n.Steps, sleep.Step{Kind: sleep.Certify, Skill: "worse", Stage: sleep.Done, Note: "alarm: on another model"})
	if err := j.SaveNight(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if err := j.Release(context.Background(), l); err != nil {
		t.Fatal(err)
	}
	db.Close()

	page := b.run(exitDone, "sleep", "status")
	lines := strings.Split(strings.TrimSuffix(page, "\n"), "\n")
	if len(lines) != 10 || !strings.HasPrefix(lines[4], "waiting  worse: alarm: on another model; `evolve rollback worse`") ||
		lines[9] != "         and 5 more: `evolve sleep status --json`" {
		t.Errorf("the page:\n%s", page)
	}
	var r sleepReport
	if err := json.NewDecoder(bytes.NewReader([]byte(b.run(exitDone, "sleep", "status", "--json")))).Decode(&r); err != nil || len(r.Last.Waiting) != 10 {
		t.Errorf("as JSON: %v, waiting %q", err, r.Last.Waiting)
	}
}
