package store

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/tournament/record"
)

// dump is all that the database holds, as text.
func dump(t *testing.T, s *Store) string {
	t.Helper()
	var b strings.Builder
	tables, err := readerOf(t, s).Query(`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`)
	must(t, err)
	defer tables.Close()
	for tables.Next() {
		var table string
		must(t, tables.Scan(&table))
		rows, err := readerOf(t, s).Query(`SELECT * FROM ` + table + ` ORDER BY 1, 2`)
		must(t, err)
		columns, err := rows.Columns()
		must(t, err)
		for rows.Next() {
			values := make([]any, len(columns))
			into := make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			must(t, rows.Scan(into...))
			fmt.Fprintf(&b, "%s %q\n", table, values)
		}
		must(t, rows.Err())
		rows.Close()
	}
	must(t, tables.Err())
	return b.String()
}

// TestPurgeTexts: a text that a session has taught is removed with it unless it was
// installed, and so are the runs' texts about it; an installed text, and what was made
// of it, belongs to the owner.
func TestPurgeTexts(t *testing.T) {
	ctx := t.Context()
	s := open(t)
	const secret, id, folder = "XYZZYsecretXYZZY", "ses-d34db33f", "/work/XYZZYfolderXYZZY"
	bad := session(id, "/p/a.jsonl", use("u1", "dataviz", harvest.Corrected, day))
	bad.Turns[0].Prompt = secret
	must(t, s.SaveSession(ctx, bad))
	mine, made, alike, other := aCase("mined-1"), aCase("made-1"), aCase("alike-1"), aCase("other-1")
	mine.Source.Session, mine.Prompt, mine.Cluster = id, secret, "session-"+id
	made.Source = &eval.Source{Origin: "generated"}
	made.Prompt, made.Cluster = secret, "session-"+id
	alike.Source.Session, alike.Cluster = "kept", "session-"+id
	other.Source.Session = "kept"
	save(t, s, 4, 0, mine, made, alike, other)

	j := s.Journal("r1")
	config := json.RawMessage(`{"cases":{"mined-1":"hash"}}`)
	must(t, j.SaveRun(ctx, &record.Run{ID: "r1", Skill: "dataviz", Status: record.Interrupted, Started: day, Config: config}))
	must(t, s.Journal("r0").SaveRun(ctx, &record.Run{ID: "r0", Skill: "dataviz", Status: record.Stopped, Started: day}))
	for i, c := range []record.Candidate{
		{SHA: "found", Text: []byte("found")},
		{SHA: "taught", Parents: []string{"found"}, Taught: []string{"mined-1"}, Text: []byte(secret)},
		{SHA: "child", Parents: []string{"taught"}, Text: []byte(secret)},
		{SHA: "copied", Parents: []string{"found"}, State: record.Invalid, Reason: "it holds " + secret, Text: []byte(secret)},
		{SHA: "installed", Parents: []string{"taught"}, Text: []byte("installed"), Reason: secret},
		{SHA: "later", Parents: []string{"installed"}, Text: []byte("later")},
		{SHA: "stranger", Parents: []string{"found"}, Taught: []string{"other-1"}, Text: []byte("stranger")},
		{SHA: "shown", Parents: []string{"found"}, Taught: []string{"other-1"}, Shown: []string{"other-1", "mined-1"}, Text: []byte(secret)},
	} {
		c.Run, c.Seq = "r1", i
		must(t, j.SaveCandidate(ctx, &c))
		r := rollout("key-" + c.SHA)
		r.Candidate, r.CaseID = c.SHA, "other-1"
		if string(c.Text) == secret {
			r.Answer = secret
		}
		must(t, j.SaveRollout(ctx, r))
		must(t, j.SaveTrial(ctx, &record.TrialRecord{Skill: "dataviz", Incumbent: "found", Challenger: c.SHA, State: []byte(`{"clusters":["session-` + id + `"],"places":{"session-` + id + `":{"workspace":"` + folder + `"},"kept":{"workspace":"/kept"}}}`)}))
	}
	must(t, j.AppendEvent(ctx, record.Event{Run: "r1", Seq: 1, Kind: "invalid", Data: []byte(`{"sha256":"copied","reason":"it holds ` + secret + `"}`)}))
	must(t, j.AppendEvent(ctx, record.Event{Run: "r1", Seq: 2, Kind: "gate_pair", Data: []byte(`{"cluster":"session-` + id + `"}`)}))
	must(t, j.AppendEvent(ctx, record.Event{Run: "r1", Seq: 3, Kind: "verdict", Data: []byte(`{"reason":"numbers"}`)}))
	// Runs that had none of its cases: one that measured a removed text, one that made it again.
	r := rollout("probed")
	r.Candidate, r.CaseID = "taught", "probe-1"
	must(t, s.Journal("probes-found-taught").SaveRollout(ctx, r))
	must(t, s.Journal("r2").SaveRun(ctx, &record.Run{ID: "r2", Skill: "dataviz", Status: record.Finished, Started: day}))
	must(t, s.Journal("r2").SaveCandidate(ctx, &record.Candidate{Run: "r2", SHA: "copied", Text: []byte(secret)}))
	must(t, s.Journal("r0").SaveCandidate(ctx, &record.Candidate{Run: "r0", SHA: "found", Text: []byte("found")}))
	for _, run := range []string{"probes-found-taught", "r2", "r0"} {
		reply := &eval.Completion{Text: secret, Finish: "stop"}
		if run == "r0" {
			reply.Text = "of another run"
		}
		must(t, s.Journal(run).SaveCompletion(ctx, "reply", eval.ByJudge, reply))
	}
	for _, sha := range []string{"found", "installed"} {
		_, err := s.SaveVersion(ctx, record.Version{Skill: "dataviz", SHA: sha, Text: []byte(sha)})
		must(t, err)
	}

	before := dump(t, s)
	plan, err := s.PlanPurge(ctx, []string{id})
	must(t, err)
	if after := dump(t, s); after != before {
		t.Error("planning changed something")
	}
	report, err := s.PurgeSessions(ctx, []string{id, id})
	must(t, err)
	if plan.Cases != 2 || !reflect.DeepEqual(plan.Removed, report.Removed) || !reflect.DeepEqual(plan.Runs, report.Runs) {
		t.Errorf("planned %+v, done %+v", plan, report)
	}
	if want := []string{"child", "copied", "shown", "taught"}; !reflect.DeepEqual(report.Removed, want) || report.Trials != 4 || report.Rollouts != 5 || report.Completions != 2 {
		t.Errorf("removed %v with %d trials and %d rollouts", report.Removed, report.Trials, report.Rollouts)
	}
	if want := []string{"made-1", "mined-1"}; !reflect.DeepEqual(report.CaseIDs, want) || !reflect.DeepEqual(report.Runs, []string{"r1"}) {
		t.Errorf("cases %v, runs %v", report.CaseIDs, report.Runs)
	}
	if len(report.Versions) != 1 || report.Versions[0].SHA != "installed" || strings.Count(report.Versions[0].Note, "purged") != 1 {
		t.Errorf("versions %+v", report.Versions)
	}
	for _, word := range []string{secret, id, folder} {
		if n := occurrences(t, s, word); n != 0 {
			t.Errorf("%q still stands %d times in the files", word, n)
		}
	}
	if c, err := s.Journal("r0").Completion(ctx, "reply"); err != nil || c == nil {
		t.Errorf("a reply in a run without any of it: %v, %v", c, err)
	}
	cs, err := s.Candidates(ctx, "r1")
	must(t, err)
	for _, c := range cs {
		if gone := slices.Contains(report.Removed, c.SHA); gone != (c.Text == nil) {
			t.Errorf("text of %s: %q", c.SHA, c.Text)
		}
	}
	trials, err := s.Trials(ctx, "dataviz")
	must(t, err)
	if len(trials) != 4 || !strings.Contains(string(trials[0].State), "purged-") || !strings.Contains(string(trials[0].State), `"workspace":"/kept"`) {
		t.Errorf("trials left: %+v", trials)
	}
	events, err := s.Events(ctx, "r1")
	must(t, err)
	if !strings.Contains(string(events[0].Data), purgedWords) || !strings.Contains(string(events[2].Data), "numbers") {
		t.Errorf("events: %+v", events)
	}
	for run, want := range map[string]record.RunStatus{"r1": record.Failed, "r0": record.Stopped} {
		if r, err := s.Run(ctx, run); err != nil || r.Status != want {
			t.Errorf("run %s is %+v, %v", run, r, err)
		}
	}
	if c, err := s.Case(ctx, "dataviz", "alike-1"); err != nil || !strings.HasPrefix(c.Cluster, "purged-") {
		t.Errorf("the case alike: %+v, %v", c, err)
	}
}
