package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/status"
)

// Status names the run that can be resumed, and the challenger that promote and
// the next run are about: the newest.
func TestStatusOfRunsAndTrials(t *testing.T) {
	ctx := t.Context()
	a := testApp(t)
	db, err := a.store(ctx)
	if err != nil {
		t.Fatal(err)
	}
	live, err := a.layout().Live("dataviz")
	if err != nil {
		t.Fatal(err)
	}
	sha := live.Doc.Hash()
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	trial := func(challenger string, decision pareto.Verdict, age int, against string) {
		t.Helper()
		tr := pareto.NewTrial(pareto.DefaultConfig())
		tr.Add(pareto.Pair{Quality: 1})
		state, err := json.Marshal(map[string]any{"version": 1, "trial": tr})
		if err != nil {
			t.Fatal(err)
		}
		r := &record.TrialRecord{Skill: "dataviz", Incumbent: against, Challenger: challenger, Run: "r", Decision: decision,
			State: state, Updated: now.Add(-time.Duration(age) * time.Hour)}
		if err := db.Journal("r").SaveTrial(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	see := func() status.Skill {
		t.Helper()
		r, err := gatherStatus(ctx, a)
		if err != nil || len(r.Skills) != 1 {
			t.Fatalf("%d skills, error %v", len(r.Skills), err)
		}
		return r.Skills[0]
	}
	run := func(id string, status record.RunStatus, age int) {
		t.Helper()
		if err := db.Journal(id).SaveRun(ctx, &record.Run{ID: id, Skill: "dataviz", Status: status, Incumbent: sha,
			Started: now.Add(-time.Duration(age) * time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}

	trial("c0", pareto.Promote, 0, "another text")
	if c := see().Challenger; c != nil {
		t.Errorf("challenger %v, want none: its trial was against another text", c)
	}
	trial("c1", pareto.Undecided, 5, sha)
	trial("c2", pareto.Undecided, 4, sha)
	trial("c3", pareto.Reject, 3, sha)
	if c := see().Challenger; c == nil || c.SHA != "c2" || c.Cases != 1 || c.EValue <= 1 {
		t.Errorf("challenger %v, want the newest undecided one with its evidence", c)
	}
	trial("c4", pareto.Promote, 7, sha)
	trial("c5", pareto.Promote, 6, sha)
	if s := see(); s.Challenger.SHA != "c5" || !strings.Contains(s.Next, "promote refuses it: the text of c5 is gone") {
		t.Errorf("challenger %v, next %q; want the newest proven one, and nothing offered without its text", s.Challenger, s.Next)
	}
	if err := db.Journal("r").SaveCandidate(ctx, &record.Candidate{SHA: "c5", Run: "r", Text: append(live.Doc.Render(), "\nDraw.\n"...)}); err != nil {
		t.Fatal(err)
	}
	s := see()
	if want := "`evolve promote dataviz` installs it"; s.Challenger.SHA != "c5" || s.Next != want {
		t.Errorf("challenger %v, next %q; want the newest proven one and %q", s.Challenger, s.Next, want)
	}
	if got, _, err := installerOf(a, db).WaitingTrial(ctx, live); err != nil || got.Challenger != "c5" {
		t.Errorf("promote is about %v, error %v; want what status shows", got, err)
	}

	run("20261120-000000-aaaaaa", record.Interrupted, 3)
	if s := see(); s.Unfinished == nil || s.Next != "`evolve --resume 20261120-000000-aaaaaa` continues the last run" {
		t.Errorf("unfinished %v, next %q", s.Unfinished, s.Next)
	}
	run("20261120-010000-bbbbbb", record.Finished, 2)
	if s := see(); s.Unfinished != nil {
		t.Errorf("unfinished %v, want none: a later run has ended", s.Unfinished)
	}
	if err := db.Journal("r").SaveRun(ctx, &record.Run{ID: "20261120-020000-cccccc", Skill: "dataviz", Status: record.Stopped,
		Note: "a cap was reached before a verdict", Incumbent: sha, Started: now}); err != nil {
		t.Fatal(err)
	}
	if s := see(); s.Unfinished != nil {
		t.Errorf("unfinished %v, want none: resumed, it would stop at its cap again", s.Unfinished)
	}
}
