package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/record"
)

// inFlight is how many rollouts run at a time: what a kill can make evolve pay
// for twice.
const inFlight = 8

// A siege is one home that is used on and on while its processes are killed.
type siege struct {
	*station
	home, claude, live string // folders, and the SKILL.md
	seed               []byte // its first text
	challenger         string // SHA-256, that a run has found
	rng                *rand.Rand
	took               map[string]time.Duration // of each operation, when nobody kills it
	sessions           int
	runs               int64
	hits               map[string]int
	twice              map[int64]int // how many resumed runs paid for so many rollouts twice
}

func newSiege(t *testing.T, seed uint64) *siege {
	s := &siege{station: newStation(t, time.Millisecond), home: t.TempDir(), rng: rand.New(rand.NewPCG(seed, 9)),
		took: map[string]time.Duration{}, hits: map[string]int{}, twice: map[int64]int{}}
	s.claude = person(t)
	name := s.cases[0].Skill
	dir := filepath.Join(s.claude, "skills", name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(s.skills, name))); err != nil {
		t.Fatal(err)
	}
	s.skills, s.live = filepath.Join(s.claude, "skills"), filepath.Join(dir, skill.FileName)
	var err error
	if s.seed, err = os.ReadFile(s.live); err != nil {
		t.Fatal(err)
	}
	allowEverything(t, s.home)
	db := s.open(s.home)
	if _, _, err := db.SaveCases(t.Context(), s.cases); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var r runResult
	s.time("run", func() { s.decode(s.must(s.run()...), &r) })
	if r.Challenger == nil {
		t.Fatalf("the first run found no challenger: %+v", r)
	}
	s.challenger = r.Challenger.SHA
	delete(s.took, "run")
	s.time("run", func() { s.must(s.run()...) }) // later ones know what this one has measured
	s.must("harvest")
	for range 3 {
		s.time("promote", func() { s.must(s.promote()...) })
		s.time("rollback", func() { s.must(s.rollback()...) })
		id := s.transcript()
		s.time("harvest", func() { s.must("harvest") })
		s.time("purge", func() { s.must("sessions", "purge", id, "--yes") })
	}
	return s
}

// time keeps the least of what an operation took: a later moment finds nothing
// to kill.
func (s *siege) time(op string, f func()) {
	began := time.Now()
	f()
	if d := time.Since(began); s.took[op] == 0 || d < s.took[op] {
		s.took[op] = d
	}
}

func (s *siege) process(args ...string) *exec.Cmd {
	c := s.command(s.home, append(args, "--claude-home", s.claude)...)
	c.Env = append(c.Env, "TMPDIR="+s.t.TempDir())
	return c
}

// must runs a command without killing it; a run may end at its cap.
func (s *siege) must(args ...string) []byte {
	s.t.Helper()
	c := s.process(args...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	var ended *exec.ExitError
	if err := c.Run(); err != nil && !(errors.As(err, &ended) && ended.ExitCode() == exitStopped) {
		s.t.Fatalf("evolve %s: %v: %s", strings.Join(args, " "), err, errs.String())
	}
	return out.Bytes()
}

func (s *siege) decode(out []byte, into any) {
	s.t.Helper()
	if err := json.Unmarshal(out, into); err != nil {
		s.t.Fatalf("%v in %s", err, out)
	}
}

func (s *siege) run() []string {
	s.runs++
	return []string{"--skill", s.cases[0].Skill, "--no-harvest", "--anew", "--agent", "openai", "--base-url", s.url, "--model", "sim-task",
		"--reflect-model", "sim-reflect", "--max-rollouts", "150", "--max-retries", "0", "--objectives", "quality,cost,retries",
		"--concurrency", fmt.Sprint(inFlight), "--seed", fmt.Sprint(s.runs)}
}

func (s *siege) promote() []string {
	return []string{"promote", s.cases[0].Skill + "@" + s.challenger[:12], "--unproven", "--force"}
}
func (s *siege) rollback() []string { return []string{"rollback", s.cases[0].Skill + "@v0"} }

func (s *siege) isLive(sha string) bool {
	text, err := os.ReadFile(s.live)
	if err != nil {
		s.t.Fatal(err)
	}
	return skill.HashText(text) == sha
}

// transcript puts a new session into the agent's folder.
func (s *siege) transcript() (id string) {
	s.sessions++
	id = fmt.Sprintf("%08x-0000-4000-8000-000000000000", 0xabc00000+s.sessions)
	const old = "03b6c89b-321c-4d58-8b09-f591caf0fb0b"
	dir := filepath.Join(s.claude, "projects", "-home-dev-project")
	text, err := os.ReadFile(filepath.Join(dir, old+".jsonl"))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), bytes.ReplaceAll(text, []byte(old), []byte(id)), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return id
}

// kill starts a command and kills it at a random moment of the time that it
// takes, from a share of that time on.
func (s *siege) kill(op string, from float64, args ...string) {
	s.t.Helper()
	c := s.process(args...)
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	time.Sleep(time.Duration((from + (1-from)*s.rng.Float64()) * float64(s.took[strings.Replace(op, "gate", "run", 1)]))) // the moment is what this test is about
	_ = c.Process.Kill()                                                                                                  // it may have ended
	if err := c.Wait(); err != nil {
		s.hits[op]++
	}
}

// whole checks what must hold after every kill.
func (s *siege) whole(what string) (live string) {
	s.t.Helper()
	text, err := os.ReadFile(s.live)
	if err != nil {
		s.t.Fatalf("%s: %v", what, err)
	}
	db := s.open(s.home) // looks at every page
	defer db.Close()
	if err := db.Check(s.t.Context()); err != nil {
		s.t.Fatalf("%s: %v", what, err)
	}
	versions, err := db.Versions(s.t.Context(), s.cases[0].Skill)
	if err != nil {
		s.t.Fatalf("%s: %v", what, err)
	}
	known := false
	for _, v := range versions {
		known = known || bytes.Equal(v.Text, text)
	}
	if !known {
		s.t.Fatalf("%s: the live SKILL.md is none of %d versions:\n%s", what, len(versions), text)
	}
	return skill.HashText(text)
}

// strike kills one operation, checks, finishes it with the next command, and
// checks again.
func (s *siege) strike(op string) {
	s.t.Helper()
	ctx := s.t.Context()
	switch op {
	case "harvest":
		id := s.transcript()
		s.kill(op, 0, "harvest")
		s.whole(op)
		s.must("harvest")
		if !s.stored(id) {
			s.t.Errorf("the session %s is not stored after the next harvest", id)
		}
	case "run", "gate":
		before := s.world.AgentCalls.Load()
		from := map[string]float64{"run": 0, "gate": .6}[op]
		args := s.run()
		s.kill(op, from, args...)
		s.whole(op)
		db := s.open(s.home)
		unfinished, err := db.UnfinishedRun(ctx, s.cases[0].Skill)
		if err == nil && unfinished != nil {
			var events []record.Event
			events, err = db.Events(ctx, unfinished.ID)
			if slices.ContainsFunc(events, func(e record.Event) bool { return e.Kind == "gate_start" }) {
				s.hits["inside the gate"]++
			}
		}
		if e := db.Close(); err != nil || e != nil {
			s.t.Fatal(err, e)
		}
		// Killed before it was written down, or after its end.
		if unfinished != nil && unfinished.Status == record.Running {
			var r runResult
			s.decode(s.must("--resume", unfinished.ID), &r)
			extra := s.world.AgentCalls.Load() - before - r.Spent.AgentCalls
			s.twice[extra]++
			// Fewer are no gift: a run that counts what another has paid for would
			// hide what it pays twice.
			if extra < 0 || extra > inFlight {
				s.t.Errorf("%d rollouts were paid twice, with %d in flight", extra, inFlight)
			}
		} else {
			s.must("status")
		}
	case "promote":
		if s.isLive(s.challenger) {
			s.must(s.rollback()...)
		}
		s.kill(op, 0, s.promote()...)
		if live := s.whole(op); live != s.challenger && live != skill.HashText(s.seed) {
			s.t.Errorf("after a kill the live text is %.12s", live)
		}
		s.must("status")
		s.must(s.promote()...)
		if !s.isLive(s.challenger) {
			s.t.Error("the next promote did not install it")
		}
	case "rollback":
		if !s.isLive(s.challenger) {
			s.must(s.promote()...)
		}
		s.kill(op, 0, s.rollback()...)
		if live := s.whole(op); live != s.challenger && live != skill.HashText(s.seed) {
			s.t.Errorf("after a kill the live text is %.12s", live)
		}
		s.must(s.rollback()...)
		if !s.isLive(skill.HashText(s.seed)) {
			s.t.Error("the next rollback did not put it back")
		}
	case "purge":
		id := s.transcript()
		s.must("harvest")
		s.kill(op, 0, "sessions", "purge", id, "--yes")
		s.whole(op)
		s.must("sessions", "purge", id, "--yes")
		for where := range bytesUnder(s.t, s.home, []string{id}) {
			s.t.Errorf("after the next purge: %s", where)
		}
		s.must("harvest")
		if s.stored(id) {
			s.t.Error("a purged session is back")
		}
	}
	s.whole("after " + op)
}

func (s *siege) stored(id string) bool {
	db := s.open(s.home)
	defer db.Close()
	found, err := db.Sessions(s.t.Context(), store.SessionFilter{ID: id})
	if err != nil {
		s.t.Fatal(err)
	}
	return len(found) > 0
}

// TestKillEverything kills harvests, runs, gates, promotions, rollbacks and
// purges at random moments: 20 of them, 500 with EVOLVE_LONG=1.
func TestKillEverything(t *testing.T) {
	kills, seed := 20, uint64(1)
	if os.Getenv("EVOLVE_LONG") == "1" {
		kills, seed = 500, uint64(time.Now().UnixNano())
	}
	if n, err := strconv.ParseUint(os.Getenv("EVOLVE_KILL_SEED"), 10, 64); err == nil {
		seed = n
	}
	if n, err := strconv.Atoi(os.Getenv("EVOLVE_KILLS")); err == nil {
		kills = n
	}
	t.Logf("EVOLVE_KILL_SEED=%d", seed)
	ops := []string{"harvest", "run", "promote", "rollback", "purge", "gate"}
	count := map[string]int{}
	var s *siege
	for k := range kills {
		if k%60 == 0 { // a home that has not grown for long
			old := s
			s = newSiege(t, seed+uint64(k))
			if old != nil {
				s.hits, s.twice = old.hits, old.twice
			}
		}
		op := ops[k%len(ops)]
		if k >= len(ops) && s.rng.IntN(2) == 0 {
			op = ops[1+s.rng.IntN(len(ops)-2)]
		}
		if kills <= 20 && (op == "run" || op == "gate") && count["run"]+count["gate"] >= 4 {
			op = "promote" // the short form has no time for more
		}
		count[op]++
		s.strike(op)
		if t.Failed() {
			t.Fatalf("kill %d, %s", k, op)
		}
	}
	t.Logf("%d kills: %v; of a process that was alive: %v; unkilled they take %v", kills, count, s.hits, s.took)
	t.Logf("rollouts paid twice: resumed runs %v, at most %d each", s.twice, inFlight)
}
