package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/status"
)

// challengerOf is the challenger in the status of the live text.
func challengerOf(t *testing.T) string {
	t.Helper()
	got, stderr, code := read(t, "status", "--json")
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var r status.Report
	if err := json.Unmarshal([]byte(got), &r); err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Skills {
		if s.Skill == "tagger" && s.Challenger != nil {
			return s.Challenger.SHA
		}
	}
	return ""
}

// TestRejectAChallenger: one that is on trial needs no approval; rejected, it has
// no place any more and cannot be installed; taken back, its trial goes on.
func TestRejectAChallenger(t *testing.T) {
	shelf(t)
	sha := challengerOf(t)
	if sha == "" {
		t.Fatal("nobody is on trial: this test shows nothing")
	}
	want := func(code int, about string, args ...string) string {
		t.Helper()
		out, errs, got := read(t, args...)
		if got != code || !strings.Contains(out+errs, about) {
			t.Errorf("evolve %s: exit %d, want %d and %q:\n%s%s", strings.Join(args, " "), got, code, about, out, errs)
		}
		return out
	}
	want(exitUsage, "is not in quarantine: it is on trial, no difference seen", "approve", "tagger@"+sha[:8], "--yes")
	want(exitDone, "rejected: tagger@"+sha[:12], "reject", "tagger@challenger")
	want(exitDone, "rejected already", "reject", "tagger@"+sha[:8])
	if got := challengerOf(t); got != "" {
		t.Errorf("%s still has a place", got)
	}
	want(exitUsage, "no new text of tagger is on trial", "show", "tagger@challenger")
	want(exitUsage, "nothing of tagger waits for promotion", "promote", "tagger", "--unproven")
	want(exitRefused, "was rejected on", "promote", "tagger@"+sha[:8], "--unproven")
	want(exitDone, "2 candidates lost or withdrawn: --json lists them", "log", "tagger")
	want(exitDone, "goes on where its trial was", "approve", "tagger@"+sha[:8], "--yes")
	if got := challengerOf(t); got != sha {
		t.Errorf("taken back, the challenger is %q, want %s", got, sha)
	}
}

// TestDecidingNamesTheNearest: a misspelt name gets a suggestion, and a
// candidate that needs no decision differs from an unknown one.
func TestDecidingNamesTheNearest(t *testing.T) {
	shelf(t)
	sha := challengerOf(t)
	swapped := sha[:6] + sha[7:8] + sha[6:7]
	if swapped == sha[:8] {
		t.Fatal("the slip is none")
	}
	for _, c := range []struct{ arg, says string }{
		{"tagger@" + swapped, "did you mean tagger@" + sha[:8] + "?"},
		{"tagger", "name a candidate: tagger@CANDIDATE"},
		{"tagger", "what waits: tagger@" + sha[:12]},
		{"tagger@", "name a candidate"},
		{"taggr@" + sha[:8], `the nearest is "tagger"`},
		{"tagger@zz", `begins with "zz"`},
	} {
		_, stderr, code := read(t, "reject", c.arg)
		if code != exitUsage || !strings.Contains(stderr, c.says) {
			t.Errorf("reject %s: exit %d: %s", c.arg, code, stderr)
		}
	}
	if _, stderr, code := read(t, "approve"); code != exitUsage || !strings.Contains(stderr, "needs a skill and a candidate") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestPurgedTextsAreNotDecidedOn: of a candidate whose text went with the session
// that taught it nothing waits; a rejection outlasts the text.
func TestPurgedTextsAreNotDecidedOn(t *testing.T) {
	live := shelf(t)
	ctx := context.Background()
	db, err := store.Open(ctx, filepath.Join(os.Getenv("EVOLVE_HOME"), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	wide := func(host string) string {
		return strings.Replace(live, "- Use", "- Ask "+host+" first.\n- Use", 1)
	}
	j := db.Journal("20260404-030000-00000a")
	var shas []string
	for i, host := range []string{"a.example.com", "b.example.com"} {
		c := record.Candidate{SHA: skill.HashText([]byte(wide(host))), Run: "20260404-030000-00000a", Seq: 10 + i, Operator: "reflect",
			State: record.Quarantined, Reason: "new-host: " + host, Parents: []string{skill.HashText([]byte(live))}, Taught: []string{"c-1"}, Text: []byte(wide(host))}
		must(j.SaveCandidate(ctx, &c))
		shas = append(shas, c.SHA)
	}
	must(db.Close())
	if out, _, _ := read(t, "status"); !strings.Contains(out, "tagger@"+shas[0][:12]) || !strings.Contains(out, "tagger@"+shas[1][:12]) {
		t.Fatalf("not in quarantine: %s", out)
	}
	if out, stderr, code := read(t, "reject", "tagger@"+shas[1]); code != exitDone {
		t.Fatalf("exit %d: %s%s", code, out, stderr)
	}
	db, err = store.Open(ctx, filepath.Join(os.Getenv("EVOLVE_HOME"), "evolve.db"))
	must(err)
	_, err = db.PurgeSessions(ctx, []string{"s-1"})
	must(err)
	all, err := candidate.All(ctx, db, "tagger")
	must(err)
	rejected := 0
	for _, c := range all {
		if len(c.Text) == 0 {
			rejected++
			if c.SHA != shas[1] || c.Standing() != candidate.Rejected {
				t.Errorf("%s without text is %s", c.SHA[:12], c.Standing())
			}
		}
	}
	if rejected != 1 {
		t.Errorf("%d rejections outlast their text, want 1", rejected)
	}
	must(db.Close())
	out, stderr, code := read(t, "status")
	if code != exitDone || strings.Contains(out, "in quarantine") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	for _, args := range [][]string{{"approve", "tagger@" + shas[1], "--yes"}, {"approve", "tagger@" + shas[0], "--yes"}, {"show", "tagger@" + shas[0], "--why"}} {
		if out, stderr, code := read(t, args...); code == exitDone && args[0] == "approve" || strings.Contains(out+stderr, "example.com") {
			t.Errorf("%v: exit %d: %s%s", args, code, out, stderr)
		}
	}
}
