package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// TestSleepStatusIsOnePage: however much waits, the page has ten lines, the alarms
// first; what is proposed for retirement stands there night after night, until the
// text is another one or its owner pins the skill.
func TestSleepStatusIsOnePage(t *testing.T) {
	b := newBedroom(t)
	db := b.store()
	j := sleep.Stored(db)
	l, err := j.Acquire(t.Context(), "test", b.now, b.now.Add(time.Hour), func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	n := &sleep.Night{Schema: 1, ID: "n", Generation: l.Generation, Began: b.now, Ended: b.now, Steps: []sleep.Step{{Kind: sleep.Harvest, Stage: sleep.Done}}}
	for i := range 9 {
		n.Steps = append(n.Steps, sleep.Step{Kind: sleep.Install, Skill: fmt.Sprint("skill", i), Stage: sleep.Skipped, Note: "proven, and waits", Result: &sleep.Result{Challenger: "abc"}})
	}
	n.Steps = append(n.Steps, sleep.Step{Kind: sleep.Certify, Skill: "worse", Stage: sleep.Done, Note: "alarm: on another model", Outcome: sleep.Worse})
	sha := skill.HashText(b.live())
	st := sleep.NewState(demoSkill)
	st.Certificates = []sleep.Certificate{{Version: sha, Model: sleep.Model{Agent: "claude", Asked: "next"}, Outcome: sleep.Certified, Lift: sleep.NoLift, Worth: "quality +0.00 over no skill"}}
	if err := j.SaveNight(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if err := j.SaveState(t.Context(), l.Generation, st); err != nil {
		t.Fatal(err)
	}
	if err := j.Release(context.Background(), l); err != nil {
		t.Fatal(err)
	}
	db.Close()

	page := b.run(exitDone, "sleep", "status")
	lines := strings.Split(strings.TrimSuffix(page, "\n"), "\n")
	if len(lines) != 10 || !strings.HasPrefix(lines[4], "waiting  worse: alarm: on another model; `evolve rollback worse`") ||
		lines[5] != "         dataviz: proposed for retirement, on claude/next: quality +0.00 over no skill; `evolve compare dataviz none` measures it again, removing its folder retires it, `evolve pin dataviz` keeps it" ||
		lines[9] != "         and 6 more: `evolve sleep status --json`" {
		t.Errorf("the page:\n%s", page)
	}
	var r sleepReport
	if err := json.NewDecoder(bytes.NewReader([]byte(b.run(exitDone, "sleep", "status", "--json")))).Decode(&r); err != nil || len(r.Last.Waiting) != 10 || len(r.Last.Retire) != 1 || r.Last.Retire[0].SHA != sha {
		t.Errorf("as JSON: %v, waiting %q, %+v", err, r.Last.Waiting, r.Last.Retire)
	}
	night := b.night(exitDone, "--max-rollouts", "1")
	if len(night.Retire) != 1 || night.Spent.AgentCalls != 0 {
		t.Errorf("the next night: %+v, spent %+v", night.Retire, night.Spent)
	}
	if !strings.Contains(b.run(exitDone, "sleep", "status"), "proposed for retirement") {
		t.Error("a later night's page has forgotten the proposal")
	}
	b.run(exitDone, "pin", demoSkill)
	if page := b.run(exitDone, "sleep", "status"); strings.Contains(page, "retirement") {
		t.Errorf("its owner keeps it, and the page says:\n%s", page)
	}
}
