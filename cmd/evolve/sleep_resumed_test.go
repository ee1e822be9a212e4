package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/tournament/sleep"
)

// TestKilledNightUnderLess: a night of the policy auto is killed in its run
// and continued with the policy stage and few rollouts: it reports that,
// makes next to no further calls, and installs nothing.
func TestKilledNightUnderLess(t *testing.T) {
	s := newStation(t, 2*time.Millisecond)
	home := s.restless()
	live := filepath.Join(s.skills, s.cases[0].Skill, "SKILL.md")
	seed, err := os.ReadFile(live)
	if err != nil {
		t.Fatal(err)
	}
	c := s.night(home)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); s.world.AgentCalls.Load() < 40; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the night asks nobody")
		}
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	before := s.world.AgentCalls.Load()
	dry := s.night(home)
	dry.Args = append(dry.Args, "--policy", "stage", "--max-rollouts", "5", "--dry-run")
	var planned bytes.Buffer
	dry.Stdout = &planned
	if err := dry.Run(); err != nil || !strings.Contains(planned.String(), `"policy": "stage"`) || !strings.Contains(planned.String(), `"stage": "begun"`) {
		t.Errorf("a dry run: %v, %s; want what remains of the night", err, planned.String())
	}
	c = s.night(home)
	c.Args = append(c.Args, "--policy", "stage", "--max-rollouts", "5", "--quiet=false")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	if !strings.Contains(errs.String(), "continues night ") || !strings.Contains(errs.String(), "(stage, 0 rollouts left, ") {
		t.Errorf("it says %q", errs.String())
	}
	if more := s.world.AgentCalls.Load() - before; more > inFlight*2 {
		t.Errorf("%d calls more, with nothing left", more)
	}
	if text, err := os.ReadFile(live); err != nil || !bytes.Equal(text, seed) {
		t.Errorf("the live text was changed (%v)", err)
	}
	db := s.open(home)
	defer db.Close()
	nights, err := sleep.Nights(t.Context(), db, 0)
	if err != nil || len(nights) != 1 || nights[0].Ended.IsZero() || nights[0].Spent().Rollouts < 5 {
		t.Errorf("nights %+v, %v; want one that ended and tells what it spent", nights, err)
	}
}
