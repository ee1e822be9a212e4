package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
)

// restless is a home whose skill was rejected often enough for a night, with the
// kernel confirmed.
func (s *station) restless() (home string) {
	home = s.home()
	db := s.open(home)
	defer db.Close()
	name, ctx := s.cases[0].Skill, context.Background()
	for i := range 8 {
		at := time.Now().Add(-time.Duration(i+1) * time.Hour)
		use := harvest.Invocation{ID: fmt.Sprint("use", i), Skill: name, Explicit: true, Signal: harvest.SkillToolUse, Time: at,
			Feedback: harvest.Feedback{Label: harvest.Rejected}}
		ses := &harvest.Session{ID: fmt.Sprint("s", i), Agent: "claude-code", Path: fmt.Sprint("/s", i), Started: at,
			Turns: []harvest.Turn{{Time: at}}, Invocations: []harvest.Invocation{use}}
		if err := db.SaveSession(ctx, ses); err != nil {
			s.t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(s.skills, name, "SKILL.md"))
	if err != nil {
		s.t.Fatal(err)
	}
	doc, err := skill.Parse(text, skill.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := db.ConfirmKernel(ctx, name, doc.KernelHash(), time.Now()); err != nil {
		s.t.Fatal(err)
	}
	return home
}

func (s *station) night(home string) *exec.Cmd {
	return s.command(home, "sleep", "run", "--policy", "auto", "--source", "claude", "--agent", "openai", "--base-url", s.url, "--model", "sim-task",
		"--reflect-model", "sim-reflect", "--max-rollouts", "260", "--objectives", "quality,retries")
}

// TestKillNight kills nights with SIGKILL at random moments, again and again
// until one ends: the live text is one that the store knows at every moment,
// no stored answer is requested again, and in the morning all is as after the
// uninterrupted night. 200 kills with EVOLVE_LONG=1.
func TestKillNight(t *testing.T) {
	kills := 6
	if os.Getenv("EVOLVE_LONG") == "1" {
		kills = 200
	}
	s := newStation(t, 2*time.Millisecond)
	live := filepath.Join(s.skills, s.cases[0].Skill, "SKILL.md")
	seed, err := os.ReadFile(live)
	if err != nil {
		t.Fatal(err)
	}
	finish := func(home string) (r status.Night) {
		t.Helper()
		var out, errs bytes.Buffer
		c := s.night(home)
		c.Stdout, c.Stderr = &out, &errs
		if err := c.Run(); err != nil {
			t.Fatalf("%v: %s%s", err, errs.String(), out.String())
		}
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatalf("%v in %s", err, out.String())
		}
		return r
	}
	began := time.Now()
	want := finish(s.restless())
	took := time.Since(began)
	wantText, err := os.ReadFile(live)
	if err != nil || bytes.Equal(wantText, seed) {
		t.Fatalf("the night that nobody killed installed nothing (%v): %+v", err, want.Steps)
	}
	paid := s.world.AgentCalls.Load()
	// Once more, for the time alone: a first one may be slow, and kills that come
	// when all is over hit nothing.
	if err := os.WriteFile(live, seed, 0o644); err != nil {
		t.Fatal(err)
	}
	home := s.restless()
	began = time.Now()
	finish(home)
	took = min(took, time.Since(began))

	rng := rand.New(rand.NewPCG(7, 7))
	done, nights, resumed, twice := 0, 0, 0, int64(0)
	for done < kills {
		if err := os.WriteFile(live, seed, 0o644); err != nil {
			t.Fatal(err)
		}
		home = s.restless()
		before := s.world.AgentCalls.Load()
		here := 0
		for range 1 + rng.IntN(4) {
			c := s.night(home)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(rng.Float64() * 0.8 * float64(took)))
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			here++
			s.known(home, live, seed)
		}
		done += here
		nights++
		finish(home)
		db := s.open(home)
		all, err := sleep.Nights(t.Context(), db, 0)
		db.Close()
		if err != nil || len(all) == 0 {
			t.Fatalf("%d nights, %v", len(all), err)
		}
		first := all[len(all)-1] // a kill that came too late leaves a second, idle one
		if first.TakenOver > 0 {
			resumed++
		}
		got := first.Spent()
		if got.AgentCalls != want.Spent.AgentCalls || got.MutatorCalls != want.Spent.MutatorCalls || len(first.Steps) != len(want.Steps) {
			t.Errorf("after %d kills: %d agent and %d mutator calls in %d steps, want %d, %d and %d", here, got.AgentCalls, got.MutatorCalls,
				len(first.Steps), want.Spent.AgentCalls, want.Spent.MutatorCalls, len(want.Steps))
		}
		if text, err := os.ReadFile(live); err != nil || !bytes.Equal(text, wantText) {
			t.Errorf("after %d kills another text is installed (%v)", here, err)
		}
		// A rollout of the gate is an attempt and its work retry; those in flight are
		// begun again.
		extra := s.world.AgentCalls.Load() - before - paid
		twice = max(twice, extra)
		if extra < 0 || extra > int64(here)*inFlight*2 {
			t.Errorf("after %d kills the server answered %d calls more than without", here, extra)
		}
	}
	t.Logf("%d kills in %d nights, %d of them taken over; a night takes %v and %d calls, of which %d at most were asked for twice", done, nights, resumed, took.Round(time.Millisecond), paid, twice)
}

// known demands that the live text is one that the store has a version of, or the
// one that was there before the store knew of anything.
func (s *station) known(home, live string, seed []byte) {
	s.t.Helper()
	text, err := os.ReadFile(live)
	if err != nil {
		s.t.Fatalf("the live text: %v", err)
	}
	if bytes.Equal(text, seed) {
		return
	}
	db, err := store.Open(context.Background(), filepath.Join(home, "evolve.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	v, err := db.VersionBySHA(context.Background(), s.cases[0].Skill, skill.HashText(text))
	if err != nil || !bytes.Equal(v.Text, text) {
		s.t.Errorf("the live text is no version that the store knows: %v", err)
	}
}
