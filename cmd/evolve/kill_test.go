package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/store"
)

// With an environment variable the test binary is the program itself: a
// process that can be killed.
func init() {
	if os.Getenv("EVOLVE_TEST_AS_MAIN") == "1" {
		os.Exit(run(context.Background(), machine{}, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
}

// A station is a home with a skill and cases, and a server that answers.
type station struct {
	world  *simulated.Server
	url    string
	skills string
	cases  []eval.Case
	t      *testing.T
}

func newStation(t *testing.T, delay time.Duration) *station {
	w := worldstest.Additive(3, 10, 0.05)
	s := &station{world: w.Server(), t: t, skills: t.TempDir(), cases: w.Cases(12, 12, 24)}
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		time.Sleep(delay) // so that a kill can hit a call in flight
		s.world.ServeHTTP(rw, r)
	}))
	t.Cleanup(srv.Close)
	s.url = srv.URL + "/v1"
	dir := filepath.Join(s.skills, w.Skill)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(w.Seed()), 0o644); err != nil {
		t.Fatal(err)
	}
	return s
}

// home makes an empty data folder with the cases in it.
func (s *station) home() string {
	home := s.t.TempDir()
	allowEverything(s.t, home)
	db := s.open(home)
	defer db.Close()
	if _, _, err := db.SaveCases(context.Background(), s.cases); err != nil {
		s.t.Fatal(err)
	}
	return home
}

func (s *station) open(home string) *store.Store {
	db, err := store.Open(context.Background(), filepath.Join(home, "evolve.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	return db
}

func (s *station) command(home string, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], append(args, "--skills-dir", s.skills, "--json", "--quiet")...)
	c.Env = []string{"EVOLVE_TEST_AS_MAIN=1", "EVOLVE_HOME=" + home, "HOME=" + home, "PATH=" + os.Getenv("PATH")}
	return c
}

func (s *station) start() []string {
	return []string{"--skill", s.cases[0].Skill, "--no-harvest", "--agent", "openai", "--base-url", s.url, "--model", "sim-task",
		"--reflect-model", "sim-reflect", "--max-rollouts", "260", "--max-retries", "0", "--objectives", "quality,cost,retries", "--seed", "7"}
}

func (s *station) result(c *exec.Cmd) runResult {
	s.t.Helper()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		s.t.Fatalf("%v: %s", err, errs.String())
	}
	var r runResult
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		s.t.Fatalf("%v in %s", err, out.String())
	}
	return r
}

// TestKill kills runs at random moments and resumes them: candidate, verdict
// and the number of agent calls must be those of the uninterrupted run, and
// the server must not be asked again for what was recorded.
func TestKill(t *testing.T) {
	kills := 4
	if n, err := strconv.Atoi(os.Getenv("EVOLVE_KILLS")); err == nil {
		kills = n
	}
	s := newStation(t, 2*time.Millisecond)
	began := time.Now()
	want := s.result(s.command(s.home(), s.start()...))
	took := time.Since(began)
	if want.Challenger == nil || want.Verdict == nil || want.Verdict.Cases == 0 {
		t.Fatalf("the run that nobody killed proves nothing: %+v", want)
	}
	paid := s.world.AgentCalls.Load()
	rng := rand.New(rand.NewPCG(1, 2))
	hit := 0
	for k := range kills {
		home := s.home()
		before := s.world.AgentCalls.Load()
		c := s.command(home, s.start()...)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.Float64() * float64(took)))
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err == nil {
			t.Logf("kill %d came too late", k)
		}
		db := s.open(home)
		runs, err := db.Runs(context.Background(), s.cases[0].Skill)
		db.Close()
		if err != nil {
			t.Fatal(err)
		}
		args := s.start() // killed before the run had begun
		if len(runs) > 0 {
			args = []string{"--resume", runs[0].ID}
			hit++
		}
		got := s.result(s.command(home, args...))
		if got.Challenger == nil || got.Challenger.SHA != want.Challenger.SHA {
			t.Errorf("kill %d: challenger %+v, want %s", k, got.Challenger, want.Challenger.SHA)
		}
		if !reflect.DeepEqual(got.Verdict, want.Verdict) {
			t.Errorf("kill %d: verdict %+v, want %+v", k, *got.Verdict, *want.Verdict)
		}
		if got.Spent.AgentCalls != want.Spent.AgentCalls || got.Spent.MutatorCalls != want.Spent.MutatorCalls {
			t.Errorf("kill %d: %d agent and %d mutator calls, want %d and %d", k,
				got.Spent.AgentCalls, got.Spent.MutatorCalls, want.Spent.AgentCalls, want.Spent.MutatorCalls)
		}
		// Up to as many calls as run at a time were in flight and are repeated.
		if extra := s.world.AgentCalls.Load() - before - paid; extra < 0 || extra > 8 {
			t.Errorf("kill %d: the server answered %d calls more than without a kill", k, extra)
		}
	}
	t.Logf("%d of %d kills hit a run; it takes %v and %d calls; verdict %s", hit, kills, took.Round(time.Millisecond), paid, want.Verdict.Decision)
	if strings.TrimSpace(want.Verdict.Reason) == "" {
		t.Error("the verdict gives no reason")
	}
}
