package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// judgedAlone leaves a home whose held-out cases a judge alone decides, so many of
// them, with the owner's labels from n sessions; the judge is right about those
// unless wrong, and then about none.
func (s *station) judgedAlone(home string, held, n int, wrong bool) {
	s.t.Helper()
	db := s.open(home)
	defer db.Close()
	ctx, name := context.Background(), s.cases[0].Skill
	var cases []eval.Case
	for _, c := range s.cases {
		if c.Split != eval.Test {
			continue
		}
		if err := db.DropCase(ctx, name, c.ID); err != nil {
			s.t.Fatal(err)
		}
		if held--; held < 0 {
			continue
		}
		judge := make([]eval.Check, len(c.Checks))
		for i, k := range c.Checks {
			judge[i] = eval.Check{Type: eval.Judge, Rubric: "The user corrected this: «" + k.Feedback + "»."}
		}
		c.ID, c.Cluster, c.Checks = "judged-"+c.ID, "judged-"+c.ID, judge
		cases = append(cases, c)
	}
	if _, _, err := db.SaveCases(ctx, cases); err != nil {
		s.t.Fatal(err)
	}
	s.label(home, "label", n, wrong)
}

// label adds sessions in which the owner corrected an answer, each a fail and a pass.
func (s *station) label(home, prefix string, n int, wrong bool) {
	s.t.Helper()
	db := s.open(home)
	defer db.Close()
	ctx, name := context.Background(), s.cases[0].Skill
	rule := s.cases[0].Checks[0]
	var cases []eval.Case
	for i := range n {
		bad, good := "It is done.", "It is done. "+rule.Value
		if wrong {
			bad, good = good, bad
		}
		id, at := fmt.Sprint(prefix, i), time.Now().Add(-100*24*time.Hour)
		cases = append(cases, eval.Case{ID: id, Skill: name, Cluster: id, Split: eval.Train, Prompt: "do " + id, Reference: good,
			Checks: []eval.Check{{Type: eval.Judge, Rubric: "The user corrected this: «" + rule.Feedback + "»."}},
			Source: &eval.Source{Agent: "claude-code", Session: id, Turn: "t1", Origin: "mined", Outcome: "corrected"}})
		ses := &harvest.Session{ID: id, Agent: "claude-code", Path: "/" + id, Started: at,
			Turns:       []harvest.Turn{{ID: "t1", Prompt: "do " + id, Answer: bad, Time: at}, {ID: "t2", Prompt: "no", Answer: good, Time: at}},
			Invocations: []harvest.Invocation{{ID: id, Skill: name, Explicit: true, Signal: harvest.SkillToolUse, Time: at}}}
		if err := db.SaveSession(ctx, ses); err != nil {
			s.t.Fatal(err)
		}
	}
	if _, _, err := db.SaveCases(ctx, cases); err != nil {
		s.t.Fatal(err)
	}
}

// TestCertifiesByATrustedJudge: held-out cases that a judge alone decides certify
// an installed version, where that judge agrees with the owner. It is asked once
// about a label; another judge is asked anew; one that stops agreeing takes its word
// back, and one that never agreed is not asked about any answer of the agent.
func TestCertifiesByATrustedJudge(t *testing.T) {
	s := newStation(t, 0)
	home, _ := s.settled()
	s.judgedAlone(home, 24, 10, false)
	night := func(model string, more ...string) *sleep.Step {
		t.Helper()
		before := s.world.ModelCalls.Load()
		k := certified(s.morning(s.asked(home, model, more...)).Night)
		if k != nil && k.Stage == sleep.Done && s.world.ModelCalls.Load()-before != k.Spent.JudgeCalls {
			t.Errorf("%s: %d calls to the judge, %d told", model, s.world.ModelCalls.Load()-before, k.Spent.JudgeCalls)
		}
		return k
	}
	before := s.calls()
	dry := certified(s.morning(s.asked(home, "sim-next", "--dry-run")).Night)
	if dry == nil || s.calls() != before || dry.Drift.Ask != 20 || !strings.Contains(dry.Note, "24 held-out cases, once the judge has been tried on 20 of your labels") {
		t.Fatalf("a dry run makes %d calls: %+v", s.calls()-before, dry)
	}
	k := night("sim-next")
	if k == nil || k.Outcome != sleep.Certified || k.Lift != sleep.LiftShown || k.Spent.Rollouts == 0 || k.Spent.Rollouts > dry.Rollouts {
		t.Fatalf("with a judge that agrees: %+v", k)
	}
	db := s.open(home)
	defer db.Close()
	labels := func(k *sleep.Step) int {
		t.Helper()
		said, err := db.Completions(t.Context(), k.Run, eval.ByJudge)
		if err != nil {
			t.Fatal(err)
		}
		return len(said)
	}
	if n := labels(k); n != 20 {
		t.Errorf("asked about %d labels, want 20", n)
	}
	if k = night("sim-third"); k == nil || k.Outcome != sleep.Certified || k.Drift.Ask != 0 || labels(k) != 0 {
		t.Errorf("on a third model %+v; want the labels not asked about again", k)
	}
	if k = night("sim-next", "--judge-model", "sim-reflect-2"); k != nil {
		t.Errorf("another judge, and a certificate that is closed: %+v", k)
	}
	doubt := func(k *sleep.Step) string { return strings.Join(k.Warnings, "; ") }
	if k = night("sim-fourth", "--judge-model", "sim-reflect-2", "--max-tokens", "3000"); k == nil || k.Outcome != sleep.Open || k.Drift.Ask != 20 || k.Spent.Rollouts != 0 ||
		!strings.Contains(doubt(k), "not shown to agree with you") {
		t.Errorf("another judge that there is no money to ask: %+v", k)
	}

	s.label(home, "more", 10, true) // half of the labels speak against it now
	k = night("sim-fifth")
	if k == nil || k.Outcome != sleep.Open || k.Lift != sleep.LiftOpen || k.Spent.Rollouts != 0 || labels(k) != 20 || k.Drift.Ask != 20 ||
		!strings.Contains(doubt(k), "24 held-out cases rest on a judge that is not shown to agree with you (κ") {
		t.Errorf("the judge does not agree any more: %+v", k)
	}
	calls := s.calls()
	for _, model := range []string{"sim-fifth", "sim-third", "sim-sixth"} { // the third one's certificate said certified
		if k = night(model); k == nil || k.Stage != sleep.Skipped || s.calls() != calls || !strings.Contains(k.Note, "they prove nothing") {
			t.Errorf("a judge that is known not to agree, on %s: %+v, %d calls", model, k, s.calls()-calls)
		}
	}
	s.label(home, "again", 60, false)
	if k = night("sim-sixth"); k == nil || k.Outcome != sleep.Certified || labels(k) == 0 {
		t.Errorf("more labels, on which it agrees: %+v", k)
	}
}
