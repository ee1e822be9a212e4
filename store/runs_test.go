package store

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/record"
)

func TestRuns(t *testing.T) {
	ctx := t.Context()
	s := open(t)
	if r, err := s.LatestRun(ctx, "dataviz"); r != nil || err != nil {
		t.Errorf("latest of none: %v, %v", r, err)
	}
	want := record.Run{ID: "run-1a", Skill: "dataviz", Status: record.Running, Seed: 7,
		Config: json.RawMessage(`{"max_rollouts":120}`), Incumbent: "aa", Challenger: "bb",
		Verdict: json.RawMessage(`{"decision":"promote"}`), Spent: eval.Spent{Rollouts: 3, CostUSD: 0.5}, Started: day}
	for _, r := range []record.Run{
		want,
		{ID: "run-1b", Skill: "dataviz", Status: record.Running, Started: day.Add(time.Minute)},
		{ID: "run-1b", Skill: "dataviz", Status: record.Finished, Started: day.Add(time.Minute)},
		{ID: "run-1", Skill: "review", Status: record.Failed, Started: day.Add(time.Hour)},
	} {
		must(t, s.Journal(r.ID).SaveRun(ctx, &r))
	}
	got, err := s.Run(ctx, "run-1a")
	if err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	if r, err := s.Run(ctx, "run-1"); err != nil || r.Skill != "review" {
		t.Errorf("an exact id that others begin with: %+v, %v", r, err)
	}
	var ambiguous *AmbiguousError
	if _, err := s.Run(ctx, "run"); !errors.As(err, &ambiguous) || len(ambiguous.Matches) != 3 {
		t.Errorf("a short id: %v", err)
	}
	for _, none := range []string{"", "x", "run-%", "run-1?"} {
		if _, err := s.Run(ctx, none); !errors.Is(err, ErrNotFound) {
			t.Errorf("run %q: %v", none, err)
		}
	}
	if r, err := s.LatestRun(ctx, "dataviz"); err != nil || r.ID != "run-1b" || r.Status != record.Finished {
		t.Errorf("latest: %+v, %v", r, err)
	}
	if r, err := s.UnfinishedRun(ctx, "dataviz"); err != nil || r.ID != "run-1a" {
		t.Errorf("unfinished: %+v, %v", r, err)
	}
	if r, err := s.UnfinishedRun(ctx, "review"); err != nil || r != nil {
		t.Errorf("unfinished of review: %+v, %v", r, err)
	}
	if rs, err := s.Runs(ctx, ""); err != nil || len(rs) != 3 || rs[0].ID != "run-1" {
		t.Errorf("all runs: %+v, %v", rs, err)
	}
	if rs, err := s.Runs(ctx, "dataviz"); err != nil || len(rs) != 2 {
		t.Errorf("runs of dataviz: %+v, %v", rs, err)
	}
}

func TestCandidates(t *testing.T) {
	ctx := t.Context()
	s := open(t)
	j := s.Journal("r1")
	want := record.Candidate{SHA: "abcd", Run: "r1", Seq: 1, Parents: []string{"aa"}, Operator: "reflect",
		State: record.Pooled, Reason: "+0.3", Taught: []string{"c"}, Text: []byte("a\r\n\xff")}
	first := want
	first.State = record.Quarantined
	must(t, j.SaveCandidate(ctx, &first))
	must(t, j.SaveCandidate(ctx, &want))
	must(t, j.SaveCandidate(ctx, &record.Candidate{SHA: "aa", Run: "r1"}))
	list, err := s.Candidates(ctx, "r1")
	must(t, err)
	if len(list) != 2 || list[0].SHA != "aa" || !reflect.DeepEqual(list[1], want) {
		t.Errorf("candidates are %+v", list)
	}
	if c, err := s.Candidate(ctx, "ab"); err != nil || !reflect.DeepEqual(*c, want) {
		t.Errorf("by prefix: %+v, %v", c, err)
	}
	must(t, s.Journal("r2").SaveCandidate(ctx, &record.Candidate{SHA: "abcd", Run: "r2", Text: want.Text}))
	if c, err := s.Candidate(ctx, "abcd"); err != nil || c.Run != "r2" {
		t.Errorf("of two runs: %+v, %v; want the last", c, err)
	}
	var ambiguous *AmbiguousError
	if _, err := s.Candidate(ctx, "a"); !errors.As(err, &ambiguous) || !reflect.DeepEqual(ambiguous.Matches, []string{"aa", "abcd"}) {
		t.Errorf("ambiguous prefix: %v", err)
	}
	if _, err := s.Candidate(ctx, "ff"); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown: %v", err)
	}
}

func TestEvents(t *testing.T) {
	s := open(t)
	j := s.Journal("r1")
	best := 0.5
	one := record.Event{Run: "r1", Seq: 1, Time: day, Kind: "accepted", Data: json.RawMessage(`{"gain":0.1}`), Rollouts: 9, Best: &best}
	must(t, j.AppendEvent(t.Context(), one))
	again := one
	again.Kind = "other"
	must(t, j.AppendEvent(t.Context(), again))
	must(t, j.AppendEvent(t.Context(), record.Event{Run: "r1", Seq: 0, Time: day, Kind: "start"}))
	got, err := s.Events(t.Context(), "r1")
	must(t, err)
	if want := []record.Event{{Run: "r1", Seq: 0, Time: day, Kind: "start"}, one}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestRolloutFilter(t *testing.T) {
	ctx := t.Context()
	s := open(t)
	for _, r := range []record.Run{{ID: "r1", Skill: "dataviz"}, {ID: "r2", Skill: "review"}} {
		must(t, s.Journal(r.ID).SaveRun(ctx, &r))
		for _, arm := range []string{"", "gate"} {
			x := rollout(r.ID + arm)
			x.Arm, x.Candidate, x.CaseID = arm, "c-"+r.ID, "case"+arm
			must(t, s.Journal(r.ID).SaveRollout(ctx, x))
		}
	}
	search, gate := "", "gate"
	for _, c := range []struct {
		f    RolloutFilter
		keys []string
	}{
		{RolloutFilter{}, []string{"r1", "r1gate", "r2", "r2gate"}},
		{RolloutFilter{Run: "r1"}, []string{"r1", "r1gate"}},
		{RolloutFilter{NotRun: "r1"}, []string{"r2", "r2gate"}},
		{RolloutFilter{Skill: "review"}, []string{"r2", "r2gate"}},
		{RolloutFilter{Arm: &search}, []string{"r1", "r2"}},
		{RolloutFilter{Arm: &gate, Candidate: "c-r2"}, []string{"r2gate"}},
		{RolloutFilter{Case: "case", Skill: "dataviz"}, []string{"r1"}},
		{RolloutFilter{Run: "r1", Skill: "review"}, nil},
	} {
		got, err := s.Rollouts(ctx, c.f)
		must(t, err)
		var keys []string
		for _, r := range got {
			keys = append(keys, r.Key)
		}
		if !reflect.DeepEqual(keys, c.keys) {
			t.Errorf("%+v: %v, want %v", c.f, keys, c.keys)
		}
	}
}

func TestTrials(t *testing.T) {
	ctx := t.Context()
	s := open(t)
	j := s.Journal("r1")
	if r, err := j.Trial(ctx, "dataviz", "inc", "chal"); r != nil || err != nil {
		t.Errorf("no trial yet: %v, %v", r, err)
	}
	first := record.TrialRecord{Skill: "dataviz", Incumbent: "inc", Challenger: "chal", Run: "r1", Decision: "undecided",
		State: json.RawMessage(`{"w":[1,2]}`), Simulated: true, Updated: day}
	must(t, j.SaveTrial(ctx, &first))
	want := first
	want.Run, want.Simulated, want.State, want.Updated = "r2", false, json.RawMessage(`{"w":[3]}`), day.Add(time.Hour)
	must(t, s.Journal("r2").SaveTrial(ctx, &want))
	if err := j.SaveTrial(ctx, &first); err == nil {
		t.Error("simulated evidence replaced real evidence")
	}
	got, err := j.Trial(ctx, "dataviz", "inc", "chal")
	if err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	older := want
	older.Challenger, older.Updated, older.Revision = "other", day, 0
	must(t, j.SaveTrial(ctx, &older))
	if list, err := s.Trials(ctx, "dataviz"); err != nil || len(list) != 2 || list[0].Challenger != "chal" {
		t.Errorf("trials: %+v, %v", list, err)
	}
}

// TestTrialIsSavedOverWhatWasRead: if another process has saved or removed a trial
// since it was read, saving it is an error and changes nothing. Records of an older
// evolve have no revision and may be overwritten after they were read.
func TestTrialIsSavedOverWhatWasRead(t *testing.T) {
	ctx := t.Context()
	s := open(t)
	j := s.Journal("r1")
	must(t, s.Do(ctx, func(tx *tx) error {
		_, err := tx.Exec(`INSERT INTO trials (skill, incumbent, challenger, simulated, updated, body)
			VALUES ('dataviz', 'inc', 'chal', 0, 0, '{"skill":"dataviz","incumbent":"inc","challenger":"chal","run":"r0","decision":"undecided","state":{}}')`)
		return err
	}))
	read := func() *record.TrialRecord {
		r, err := j.Trial(ctx, "dataviz", "inc", "chal")
		must(t, err)
		return r
	}
	mine, theirs := read(), read()
	theirs.Decision = "reject"
	must(t, j.SaveTrial(ctx, theirs))
	must(t, j.SaveTrial(ctx, theirs)) // and goes on
	mine.Decision = "promote"
	begun := record.TrialRecord{Skill: "dataviz", Incumbent: "inc", Challenger: "chal", Decision: "promote", State: []byte(`{}`)}
	var changed *record.TrialChangedError
	for _, r := range []*record.TrialRecord{mine, &begun} {
		if err := j.SaveTrial(ctx, r); !errors.As(err, &changed) || changed.Challenger != "chal" {
			t.Errorf("saved over another's: %v", err)
		}
	}
	if got := read(); got.Decision != "reject" || got.Revision != 2 {
		t.Errorf("kept %+v", got)
	}
	must(t, s.Do(ctx, func(tx *tx) error {
		_, err := tx.Exec(`DELETE FROM trials`)
		return err
	}))
	if err := j.SaveTrial(ctx, theirs); !errors.As(err, &changed) {
		t.Errorf("what was removed came back: %v", err)
	}
}

func TestSpentCases(t *testing.T) {
	ctx := t.Context()
	j := open(t).Journal("r1")
	must(t, j.SpendCase(ctx, "dataviz", "inc", "chal", "a", ""))
	must(t, j.SpendCase(ctx, "dataviz", "inc", "chal", "a", ""))
	must(t, j.SpendCase(ctx, "dataviz", "inc2", "chal", "a", ""))
	must(t, j.SpendCase(ctx, "dataviz", "inc2", "chal2", "b", ""))
	must(t, j.SpendCase(ctx, "review", "inc2", "chal2", "a", ""))
	for _, incumbent := range []string{"inc", "inc2", "inc3"} {
		var spent *record.SpentError
		if err := j.SpendCase(ctx, "dataviz", incumbent, "chal2", "a", ""); !errors.As(err, &spent) || spent.On != "chal" {
			t.Errorf("spent on a second challenger, against %s: %v", incumbent, err)
		}
	}
	got, err := j.SpentCases(ctx, "dataviz")
	if want := map[string]string{"a": "chal", "b": "chal2"}; err != nil || !reflect.DeepEqual(got.By, want) {
		t.Errorf("spent %v, %v; want %v", got, err, want)
	}
}

// TestRowsOfAnOlderEvolve: what an older evolve recorded of an edit as a run is none, and is
// found by its name alone.
func TestRowsOfAnOlderEvolve(t *testing.T) {
	ctx := t.Context()
	s := open(t)
	for _, id := range []string{"20261120-000000-aaaaaa", "rebase-0123456789ab"} {
		must(t, s.Journal(id).SaveRun(ctx, &record.Run{ID: id, Skill: "dataviz", Status: record.Finished, Started: day}))
	}
	runs, err := s.Runs(ctx, "")
	must(t, err)
	last, err := s.LatestRun(ctx, "dataviz")
	must(t, err)
	if len(runs) != 1 || last == nil || last.ID != runs[0].ID {
		t.Errorf("%d runs, the last is %+v", len(runs), last)
	}
	if _, err := s.Run(ctx, "rebase-0123456789ab"); err != nil {
		t.Error(err)
	}
}
