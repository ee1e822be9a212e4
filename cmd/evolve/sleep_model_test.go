package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/sleep"
	"github.com/skill-evolve/evolve/tournament/status"
)

// keepBack leaves so many held-out cases in the home, and returns the others.
func (s *station) keepBack(home string, held int) (later []eval.Case) {
	s.t.Helper()
	db := s.open(home)
	defer db.Close()
	for _, c := range s.cases {
		if c.Split != eval.Test {
			continue
		}
		if held--; held >= 0 {
			continue
		}
		later = append(later, c)
		if err := db.DropCase(s.t.Context(), c.Skill, c.ID); err != nil {
			s.t.Fatal(err)
		}
	}
	return later
}

// step is the only one of its kind in a night, nil for none.
func (s *station) step(n *sleep.Night, kind sleep.Kind) (found *sleep.Step) {
	s.t.Helper()
	for i := range n.Steps {
		if n.Steps[i].Kind == kind {
			if found != nil {
				s.t.Fatalf("two steps of kind %s", kind)
			}
			found = &n.Steps[i]
		}
	}
	return found
}

// TestTrialOnANewModelStartsAgain: a night on another model does not add to what
// the one before has measured.
func TestTrialOnANewModelStartsAgain(t *testing.T) {
	t.Parallel()
	s := newStation(t, 0)
	home := s.restless()
	later := s.keepBack(home, 5)
	r := s.morning(s.night(home))
	k := s.step(r.Night, sleep.Search)
	if k == nil || k.Result == nil || !k.Result.Decision.IsOpen() {
		t.Fatalf("the first night: %+v", r.Steps)
	}
	db := s.open(home)
	defer db.Close()
	if _, _, err := db.SaveCases(t.Context(), later[:8]); err != nil {
		t.Fatal(err)
	}
	out, err := s.command(home, "--skill", k.Skill, "--agent", "simulated", "--no-harvest", "--dry-run").CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("a simulated agent cannot continue it")) {
		t.Errorf("a simulated agent goes on with the trial: %v, %s", err, out)
	}
	r = s.morning(s.asked(home, "sim-next"))
	k = s.step(r.Night, sleep.Continue)
	const word = "the model changed from openai/sim-task to openai/sim-next: the trial starts again; "
	if k == nil || k.Result == nil || k.Result.Round != 1 || !strings.HasPrefix(k.Note, word) {
		t.Fatalf("the night on another model: %+v", r.Steps)
	}
	rec, err := db.Journal("").Trial(t.Context(), k.Skill, k.Result.Incumbent, k.Result.Challenger)
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := rec.Kept(); err != nil || kept.Cases() != 8 {
		t.Errorf("evidence on %d cases, %v; want the 8 that it has not heard before", kept.Cases(), err)
	}
	st, err := sleep.Stored(db).State(t.Context(), k.Skill)
	if err != nil || st.Lifetime.Tested != 2 || st.Trials[1].Round != 1 || st.Trials[1].Level != sleep.LifetimeAlpha/6 {
		t.Errorf("the lifetime: %+v, %v", st, err)
	}
	if _, _, err := db.SaveCases(t.Context(), later[8:]); err != nil {
		t.Fatal(err)
	}
	r = s.morning(s.asked(home, "sim-next"))
	if k = s.step(r.Night, sleep.Continue); k == nil || k.Result == nil || k.Result.Restarted != "" || k.Result.Round != 1 || k.Level != sleep.LifetimeAlpha/6 {
		t.Errorf("the night after, on the same model: %+v", r.Steps)
	}
}

// TestNothingProvedOnAnotherModelIsInstalled: neither what an earlier night staged,
// nor what a killed night was about to install.
func TestNothingProvedOnAnotherModelIsInstalled(t *testing.T) {
	t.Parallel()
	s := newStation(t, 0)
	home := s.restless()
	path := filepath.Join(s.skills, s.cases[0].Skill, "SKILL.md")
	seed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := s.morning(s.asked(home, "sim-task", "--policy", "stage"))
	k := s.step(r.Night, sleep.Install)
	if k == nil || k.Stage != sleep.Skipped {
		t.Fatalf("nothing waits: %+v", r.Steps)
	}
	const word = "it was found better on openai/sim-task, and the agent is openai/sim-next now"
	unchanged := func() {
		t.Helper()
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, seed) {
			t.Fatalf("it was installed (%v)", err)
		}
	}
	r = s.morning(s.asked(home, "sim-next"))
	if k := s.step(r.Night, sleep.Install); k == nil || k.Stage != sleep.Skipped || !strings.HasPrefix(k.Note, word) {
		t.Errorf("staged before: %+v", r.Steps)
	}
	unchanged()

	db := s.open(home)
	defer db.Close()
	j := sleep.Stored(db)
	l, err := j.Acquire(t.Context(), "the dead", time.Now(), time.Now(), func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	killed := *k
	killed.Stage, killed.Note, killed.Ended = sleep.Planned, "", time.Time{}
	if err := j.SaveNight(t.Context(), &sleep.Night{Schema: 1, ID: "29990101-000000-9", Generation: l.Generation, Began: time.Now().Add(time.Hour), Settled: true,
		Policy: sleep.Auto, Steps: []sleep.Step{{Kind: sleep.Harvest, Stage: sleep.Done}, killed}}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	c := s.asked(home, "sim-next")
	c.Stdout = &out
	if err := c.Run(); c.ProcessState.ExitCode() != exitFailed {
		t.Errorf("the killed night: %v", err)
	}
	r = status.Night{}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if k := s.step(r.Night, sleep.Install); k == nil || k.Stage != sleep.Failed || !strings.Contains(k.Note, word) {
		t.Errorf("the killed night: %+v", r.Steps)
	}
	unchanged()

	s.morning(s.night(home)) // on the model of before
	if now, err := os.ReadFile(path); err != nil || bytes.Equal(now, seed) {
		t.Errorf("it is not installed on its own model either (%v)", err)
	}
}
