package search

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/simulated/worldstest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/record/recordtest"
)

// TestSearchModel: the search asks the model that it was given and the trial the owner's,
// which the verdict names; what the search measured on another model is no part of the
// trial's rule.
func TestSearchModel(t *testing.T) {
	owners := worldstest.Additive(3, 12, 0.02)
	cheap := owners
	cheap.Name = "cheap"
	doc, err := skill.Parse([]byte(owners.Seed()), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	uses := make([]record.Use, 10)
	for i := range uses {
		uses[i].Stratum = eval.Silent
	}
	uses[3].Stratum, uses[7].Stratum = record.Corrected, "accepted"
	try := func(p Plan) (*Outcome, *recordtest.Memory) {
		journal := &recordtest.Memory{}
		p.Run = &record.Run{ID: "r", Skill: owners.Skill, Seed: 1}
		p.Incumbent, p.Cases, p.HeldOut, p.Uses = eval.Variant{Name: owners.Skill, Doc: doc}, owners.Cases(30, 30, 20), 20, uses
		p.Agent, p.Mutator, p.Grader, p.Journal, p.Concurrency = owners.Agent(), owners.Model(), &eval.Checks{}, journal, 1
		p.Caps = eval.Caps{Rollouts: 600}
		p.Now = func() time.Time { return time.Unix(0, 0) }
		out, err := Improve(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if out.Verdict == nil || out.Verdict.Cases == 0 || out.Worth == nil {
			t.Fatalf("no verdict on any case, or no worth: %+v", out)
		}
		return out, journal
	}
	out, journal := try(Plan{SearchAgent: cheap.Agent(), Failures: 0.1})
	asked := map[string]map[bool]int{}
	for _, r := range journal.Rollouts {
		if asked[r.Agent.Model] == nil {
			asked[r.Agent.Model] = map[bool]int{}
		}
		asked[r.Agent.Model][strings.HasPrefix(r.Arm, "gate:")]++
	}
	if c, o := asked[cheap.Name], asked[owners.Name]; c[false] == 0 || c[true] != 0 || o[false] != 0 || o[true] == 0 || len(asked) != 2 {
		t.Errorf("asked, by model and whether in the gate: %v", asked)
	}
	if got, want := out.Verdict.Measured(), "measured on simulated 1/"+owners.Name+"; the search had simulated 1/cheap"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	failures := func(m *recordtest.Memory) float64 {
		for _, rec := range m.Trials {
			trial, err := rec.Kept()
			if err != nil {
				t.Fatal(err)
			}
			return trial.Config().Failures
		}
		return -1
	}
	if got := failures(journal); got != 0.1 {
		t.Errorf("the trial's rule has the incumbent fail in %g of uses, want 0.1: the search's model says nothing of it", got)
	}
	same, journal := try(Plan{})
	if v := same.Verdict; v.Measured() != "" || v.Model != "" || v.SearchModel != "" {
		t.Errorf("one model, and the verdict is %q", v.Measured())
	}
	if got := failures(journal); got == 0.1 {
		t.Errorf("one model: %g of uses fail by its own validation, want another figure", got)
	}
}

// TestCalibratesForWaitingPairs: pairs that wait for the judge are heard although no
// held-out case is left, and again when the run is resumed.
func TestCalibratesForWaitingPairs(t *testing.T) {
	w := worldstest.Additive(3, 12, 0.02)
	doc, err := skill.Parse([]byte(w.Seed()), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	better, err := skill.Parse([]byte(w.Seed()+"\nBe brief.\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	incumbent, challenger := eval.Variant{Name: w.Skill, Doc: doc}, eval.Variant{Name: w.Skill, Doc: better}
	journal := &recordtest.Memory{}
	st := &record.State{Version: 1, Start: pareto.NewTrial(pareto.Config{}), Trial: pareto.NewTrial(pareto.Config{})}
	for i := range 9 {
		st.Waiting = append(st.Waiting, record.WaitingPair{Cluster: string(rune('a' + i)), Pair: pareto.Pair{Quality: 1}, Judge: "j", Asked: true})
	}
	rec := &record.TrialRecord{Skill: w.Skill, Incumbent: incumbent.SHA(), Challenger: challenger.SHA(), Run: "before", Decision: pareto.Undecided}
	if err := rec.Save(st); err != nil {
		t.Fatal(err)
	}
	if err := journal.SaveTrial(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	trusted := record.Calibration{Judge: "j", Labels: pareto.Agreement{BothPass: 15, BothFail: 15}}
	for process := range 2 {
		asked := 0
		out, err := Improve(t.Context(), Plan{Run: &record.Run{ID: "r", Skill: w.Skill, Seed: 1}, Incumbent: incumbent, Carried: &challenger, Cases: w.Cases(12, 6, 0),
			Agent: w.Agent(), Mutator: w.Model(), Grader: &eval.Checks{}, Journal: journal, Concurrency: 1,
			Calibrate: func(context.Context) (record.Calibration, error) { asked++; return trusted, nil }})
		if err != nil {
			t.Fatal(err)
		}
		if v := out.Verdict; asked != 1 || v.Verdict != pareto.Promote || v.Fresh != 0 {
			t.Errorf("process %d: the judge was measured %d times, and it is %s: %s", process, asked, v.Verdict, v.Reason)
		}
	}
}
