package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
)

// asked is a night on a model of this name.
func (s *station) asked(home, model string, more ...string) *exec.Cmd {
	c := s.night(home)
	for i, arg := range c.Args {
		if arg == "sim-task" {
			c.Args[i] = model
		}
	}
	c.Args = append(c.Args, more...)
	return c
}

// morning runs a night to its end.
func (s *station) morning(c *exec.Cmd) (r status.Night) {
	s.t.Helper()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		s.t.Fatalf("%v: %s%s", err, errs.String(), out.String())
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		s.t.Fatalf("%v in %s", err, out.String())
	}
	return r
}

func (s *station) calls() int64 { return s.world.AgentCalls.Load() + s.world.ModelCalls.Load() }

// settled is a home in which a night has installed a text, and live what is
// installed.
func (s *station) settled() (home string, live []byte) {
	s.t.Helper()
	home = s.restless()
	path := filepath.Join(s.skills, s.cases[0].Skill, "SKILL.md")
	seed, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	r := s.morning(s.night(home))
	if live, err = os.ReadFile(path); err != nil || bytes.Equal(live, seed) {
		s.t.Fatalf("the night installed nothing (%v): %+v", err, r.Steps)
	}
	return home, live
}

// compared is the step of a night that compares, nil for none.
func compared(n *sleep.Night) *sleep.Step {
	for i := range n.Steps {
		if n.Steps[i].Kind == sleep.Compare {
			return &n.Steps[i]
		}
	}
	return nil
}

// TestNewModelCompares: a night on the same model as before makes no call;
// one on another model compares the installed version with the version before
// it and with no skill, within its budget, once; log and status show the
// result, and no dry run does it.
func TestNewModelCompares(t *testing.T) {
	t.Parallel()
	s := newStation(t, 0)
	home, live := s.settled()
	before := s.calls()
	if r := s.morning(s.night(home)); s.calls() != before || compared(r.Night) != nil {
		t.Errorf("on the same model %d calls: %+v", s.calls()-before, r.Steps)
	}
	dry := s.morning(s.asked(home, "sim-next", "--dry-run"))
	if k := compared(dry.Night); s.calls() != before || k == nil || k.Stage != sleep.Planned || !strings.Contains(k.Note, "found better on openai") {
		t.Errorf("a dry run makes %d calls: %+v", s.calls()-before, dry.Steps)
	}
	r := s.morning(s.asked(home, "sim-next"))
	k := compared(r.Night)
	if k == nil || k.Stage != sleep.Done || k.Spent.Rollouts == 0 || k.Spent.Rollouts > 260 ||
		s.calls()-before != k.Spent.AgentCalls {
		t.Fatalf("on another model %d calls: %+v", s.calls()-before, k)
	}
	if k.Drift.From.Asked != "sim-task" || k.Drift.To.Asked != "sim-next" || k.Drift.Version != skill.HashText(live) || k.Drift.Previous == "" {
		t.Errorf("drift %+v", k.Drift)
	}
	before = s.calls()
	for _, model := range []string{"sim-next", "sim-task"} { // the evidence of the gate stands for the other one
		if r := s.morning(s.asked(home, model)); s.calls() != before || compared(r.Night) != nil {
			t.Errorf("on %s again %d calls: %+v", model, s.calls()-before, r.Steps)
		}
	}
	db := s.open(home)
	defer db.Close()
	st, err := sleep.Stored(db).State(t.Context(), s.cases[0].Skill)
	if err != nil || len(st.Compared) != 2 || st.Compared[0].Model.Asked != "sim-next" || st.Compared[0].Against != k.Drift.Previous || st.Compared[1].Against != eval.NoSkill || st.Compared[1].Low <= 0 {
		t.Fatalf("kept: %+v, %v", st.Compared, err)
	}
	for _, args := range [][]string{{"log", s.cases[0].Skill}, {"status"}} {
		c := s.command(home, args...)
		c.Args = slices.DeleteFunc(c.Args, func(arg string) bool { return arg == "--json" })
		if out, err := c.Output(); err != nil || !strings.Contains(string(out), "than no skill on openai/sim-next: quality +") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	body, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range s.cases {
		if bytes.Contains(body, []byte(c.ID)) || c.Cluster != "" && bytes.Contains(body, []byte(c.Cluster)) {
			t.Errorf("what is kept names case %s", c.ID)
		}
	}
	if got, err := os.ReadFile(filepath.Join(s.skills, s.cases[0].Skill, "SKILL.md")); err != nil || !bytes.Equal(got, live) {
		t.Error("the live text has changed")
	}
}

// TestComparesOnTheNightsModel: a killed night that is continued on another
// model than it began on does not mix the two.
func TestComparesOnTheNightsModel(t *testing.T) {
	t.Parallel()
	s := newStation(t, 0)
	home, live := s.settled()
	db := s.open(home)
	defer db.Close()
	j := sleep.Stored(db)
	l, err := j.Acquire(t.Context(), "the dead", time.Now(), time.Now(), func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	name := s.cases[0].Skill
	err = j.SaveNight(t.Context(), &sleep.Night{Schema: 1, ID: "29990101-000000-9", Generation: l.Generation, Began: time.Now().Add(time.Hour), Settled: true, Policy: sleep.Auto,
		Steps: []sleep.Step{{Kind: sleep.Harvest, Stage: sleep.Done},
			{Kind: sleep.Compare, Skill: name, Stage: sleep.Begun, Run: "r", Attempts: 1, Drift: &sleep.Drift{Version: skill.HashText(live), From: sleep.Model{Agent: "openai", Asked: "sim-task"},
				To: sleep.Model{Agent: "openai", Asked: "sim-next"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	before := s.calls()
	var out bytes.Buffer
	c := s.asked(home, "sim-third")
	c.Stdout = &out
	if err := c.Run(); c.ProcessState.ExitCode() != exitFailed || s.calls() != before {
		t.Fatalf("%v, %d calls: %s", err, s.calls()-before, out.String())
	}
	var r status.Night
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if k := compared(r.Night); k == nil || k.Stage != sleep.Failed || !strings.Contains(k.Note, "sim-third now") {
		t.Errorf("the step: %+v", k)
	}
	if st, err := j.State(t.Context(), name); err != nil || len(st.Compared) != 0 {
		t.Errorf("compared %+v, %v; want none", st.Compared, err)
	}
}

// TestKillNightOnNewModel kills nights that compare, as TestKillNight does
// those that search: in the morning all is as after the uninterrupted night,
// and no recorded measurement is repeated. 100 kills with EVOLVE_LONG=1.
func TestKillNightOnNewModel(t *testing.T) {
	kills := 4
	if os.Getenv("EVOLVE_LONG") == "1" {
		kills = 100
	}
	s := newStation(t, 2*time.Millisecond)
	template, text := s.settled()
	live := filepath.Join(s.skills, s.cases[0].Skill, "SKILL.md")
	fresh := func() string {
		home := t.TempDir()
		if err := os.CopyFS(home, os.DirFS(template)); err != nil {
			t.Fatal(err)
		}
		return home
	}
	paid, began := s.world.AgentCalls.Load(), time.Now()
	want := s.morning(s.asked(fresh(), "sim-next"))
	took := time.Since(began)
	paid = s.world.AgentCalls.Load() - paid
	k := compared(want.Night)
	if k == nil || k.Stage != sleep.Done || paid == 0 {
		t.Fatalf("the night that nobody killed: %+v", want.Steps)
	}
	rng := rand.New(rand.NewPCG(8, 8))
	done, resumed := 0, 0
	for done < kills {
		home, here, before := fresh(), 0, s.world.AgentCalls.Load()
		for range 1 + rng.IntN(4) {
			c := s.asked(home, "sim-next")
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(rng.Float64() * 0.9 * float64(took)))
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait()
			here++
			s.known(home, live, text)
		}
		done += here
		s.morning(s.asked(home, "sim-next"))
		db := s.open(home)
		all, err := sleep.Nights(t.Context(), db, 0)
		if err != nil {
			t.Fatal(err)
		}
		st, err := sleep.Stored(db).State(t.Context(), s.cases[0].Skill)
		db.Close()
		if err != nil || len(st.Compared) != 2 {
			t.Fatalf("%d comparisons, %v", len(st.Compared), err)
		}
		var got *sleep.Step
		nights := 0
		for i := range all {
			if g := compared(&all[i]); g != nil {
				got = g
				nights++
				if all[i].TakenOver > 0 {
					resumed++
				}
			}
		}
		if nights != 1 || got.Note != k.Note || got.Spent.Rollouts != k.Spent.Rollouts || got.Spent.JudgeCalls != k.Spent.JudgeCalls {
			t.Errorf("after %d kills %d nights compare: %+v, want %+v", here, nights, got, k)
		}
		if now, err := os.ReadFile(live); err != nil || !bytes.Equal(now, text) {
			t.Errorf("after %d kills another text is installed (%v)", here, err)
		}
		if extra := s.world.AgentCalls.Load() - before - paid; extra < 0 || extra > int64(here)*inFlight*2 {
			t.Errorf("after %d kills the server answered %d calls more than without", here, extra)
		}
	}
	t.Logf("%d kills, %d nights taken over; a night takes %v and %d calls", done, resumed, took.Round(time.Millisecond), paid)
}
