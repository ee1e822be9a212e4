package store

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/tournament/record"
)

// TestPurgeSession: no byte of the session stays in any file of the database,
// nothing of anybody else's is gone, and what learned from it is named.
func TestPurgeSession(t *testing.T) {
	ctx := t.Context()
	s := open(t)
	const secret, id = "XYZZYsecretXYZZY", "ses-d34db33f"
	long := strings.Repeat(secret+" ", 2000) // overflow pages too

	bad := session(id, "/p/"+id+".jsonl", use("u1", "dataviz", harvest.Corrected, day))
	bad.Turns[0].Prompt = long
	bad.Turns[0].Work = []work.Act{{Kind: work.Ran, Line: long}}
	bad.Invocations[0].Feedback.Evidence = secret
	must(t, s.SaveSession(ctx, bad))
	must(t, s.SaveSession(ctx, session("kept", "/p/kept.jsonl", use("u2", "dataviz", harvest.Accepted, day))))
	cur, err := s.Cursor(ctx, "claude")
	must(t, err)
	cur.Mark(bad.Path, 1, day)
	cur.Mark("/p/kept.jsonl", 1, day)
	must(t, cur.Flush(ctx))

	mine, theirs := aCase("case-1"), aCase("case-2")
	mine.Source.Session, mine.Prompt = id, long
	theirs.Source.Session = "kept"
	elsewhere := aCase("case-1")
	elsewhere.Skill, elsewhere.Source = "review", nil
	save(t, s, 3, 0, mine, theirs, elsewhere)

	for _, run := range []struct{ id, skill, caseID, text string }{
		{"r1", "dataviz", "case-1", long}, {"r2", "dataviz", "case-2", "kept"}, {"r3", "review", "case-1", "kept"},
	} {
		j := s.Journal(run.id)
		must(t, j.SaveRun(ctx, &record.Run{ID: run.id, Skill: run.skill, Status: record.Finished, Started: day}))
		r := rollout("key-" + run.id)
		r.CaseID, r.Answer = run.caseID, run.text
		must(t, j.SaveRollout(ctx, r))
		must(t, j.SaveCompletion(ctx, "m", eval.ByMutator, &eval.Completion{Text: run.text}))
		must(t, j.SpendCase(ctx, run.skill, "inc", "chal", run.caseID, ""))
	}
	must(t, s.Journal("harvest").SaveCompletion(ctx, "m", eval.ByMiner, &eval.Completion{Text: secret}))
	j := s.Journal("r1")
	for i, c := range []record.Candidate{
		{SHA: "found"}, {SHA: "taught", Parents: []string{"found"}, Taught: []string{"case-2", "case-1"}},
		{SHA: "child", Parents: []string{"taught"}}, {SHA: "cousin", Parents: []string{"found"}, Taught: []string{"case-2"}},
	} {
		c.Run, c.Seq = "r1", i
		must(t, j.SaveCandidate(ctx, &c))
	}
	for _, v := range []record.Version{{SHA: "found"}, {SHA: "child", Note: "n"}, {SHA: "edited", Parent: "child", Author: "you"}, {SHA: "cousin"}} {
		v.Skill = "dataviz"
		_, err := s.SaveVersion(ctx, v)
		must(t, err)
	}
	if n := occurrences(t, s, secret); n == 0 {
		t.Fatal("the secret was never in the files: this test shows nothing")
	}

	report, err := s.PurgeSessions(ctx, []string{id})
	must(t, err)
	if report.Sessions != 1 || report.Cases != 1 || report.Rollouts != 1 || report.Completions != 2 {
		t.Errorf("report %+v", report)
	}
	if want := []string{"child", "edited", "taught"}; !reflect.DeepEqual(report.Candidates, want) {
		t.Errorf("texts that learned: %v, want %v", report.Candidates, want)
	}
	for _, word := range []string{secret, id} {
		if n := occurrences(t, s, word); n != 0 {
			t.Errorf("%q still stands %d times in the files", word, n)
		}
	}

	if n := actsOf(t, s); n != 0 {
		t.Errorf("%d turns have acts", n)
	}
	versions, err := s.Versions(ctx, "dataviz")
	must(t, err)
	for i, noted := range []bool{false, true, true, false} {
		if strings.Contains(versions[i].Note, "purged") != noted {
			t.Errorf("note of v%d is %q", i, versions[i].Note)
		}
	}
	if !strings.HasPrefix(versions[1].Note, "n; ") {
		t.Errorf("the note that v1 had is lost: %q", versions[1].Note)
	}
	candidate, err := s.Candidate(ctx, "taught")
	must(t, err)
	if want := []string{"case-2", purgedCase}; !reflect.DeepEqual(candidate.Taught, want) {
		t.Errorf("taught by %v, want %v", candidate.Taught, want)
	}
	rest, err := s.Rollouts(ctx, RolloutFilter{})
	if err != nil || len(rest) != 2 {
		t.Errorf("%d rollouts are left, %v; want the two of others", len(rest), err)
	}
	for run, want := range map[string]bool{"r1": false, "r2": true, "r3": true} {
		c, err := s.Journal(run).Completion(ctx, "m")
		if err != nil || (c != nil) != want {
			t.Errorf("completion of %s: %v, %v", run, c, err)
		}
	}
	cases, err := s.Cases(ctx, "")
	if err != nil || len(cases) != 2 {
		t.Errorf("%d cases are left, %v; want 2", len(cases), err)
	}
	if uses, err := s.Invocations(ctx, "dataviz"); err != nil || len(uses) != 1 || uses[0].ID != "u2" {
		t.Errorf("uses left: %v, %v", uses, err)
	}
	if cur, err = s.Cursor(ctx, "claude"); err != nil || cur.Seen(bad.Path, 1, day) || !cur.Seen("/p/kept.jsonl", 1, day) {
		t.Errorf("cursor after the purge: %v, %v", cur.seen, err)
	}

	// The next harvest does not bring it back.
	must(t, s.SaveSession(ctx, bad))
	save(t, s, 0, 0, mine)
	if list, err := s.Sessions(ctx, SessionFilter{}); err != nil || len(list) != 1 {
		t.Errorf("%d sessions after another harvest, %v", len(list), err)
	}
	if gone, err := s.Purged(ctx, id); !gone || err != nil {
		t.Errorf("Purged: %v, %v", gone, err)
	}
	cur.Mark(bad.Path, 1, day)
	must(t, cur.Flush(ctx))
	for _, word := range []string{secret, id} {
		if n := occurrences(t, s, word); n != 0 {
			t.Errorf("another harvest wrote %q again", word)
		}
	}
	if cur, err = s.Cursor(ctx, "claude"); err != nil || !cur.Seen(bad.Path, 1, day) || cur.Seen("/p/nobody.jsonl", 1, day) {
		t.Errorf("the cursor does not know what it has read: %v, %v", cur.seen, err)
	}
	if _, err := s.PurgeSessions(ctx, []string{id}); err != nil {
		t.Errorf("purging again: %v", err)
	}
}

func TestPurgeUnknownSession(t *testing.T) {
	s := open(t)
	if _, err := s.PurgeSessions(t.Context(), []string{"nobody"}); !errors.Is(err, ErrNotFound) {
		t.Errorf("purge of an unknown session: %v", err)
	}
	if gone, err := s.Purged(t.Context(), "nobody"); gone || err != nil {
		t.Errorf("Purged: %v, %v", gone, err)
	}
}

// occurrences counts word in all files of the database.
func occurrences(t *testing.T, s *Store, word string) (n int) {
	t.Helper()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		b, err := os.ReadFile(s.Path() + suffix)
		if err != nil && suffix == "" {
			t.Fatal(err)
		}
		n += bytes.Count(b, []byte(word))
	}
	return n
}
