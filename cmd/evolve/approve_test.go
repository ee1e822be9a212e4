package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// challengerOf is what status says of who waits to replace the live text.
func challengerOf(t *testing.T) string {
	t.Helper()
	got, stderr, code := read(t, "status", "--json")
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var r statusReport
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
	want(exitUsage, "is not in quarantine: it is on trial, undecided", "approve", "tagger@"+sha[:8], "--yes")
	want(exitDone, "rejected: tagger@"+sha[:12], "reject", "tagger@challenger")
	want(exitDone, "rejected already", "reject", "tagger@"+sha[:8])
	if got := challengerOf(t); got != "" {
		t.Errorf("%s still has a place", got)
	}
	want(exitUsage, "no challenger of tagger is on trial", "show", "tagger@challenger")
	want(exitUsage, "nothing of tagger waits for promotion", "promote", "tagger", "--yes")
	want(exitRefused, "was rejected on", "promote", "tagger@"+sha[:8], "--yes")
	want(exitDone, "rejected: 2 (--json lists them)", "log", "tagger")
	want(exitDone, "goes on where its trial was", "approve", "tagger@"+sha[:8], "--yes")
	if got := challengerOf(t); got != sha {
		t.Errorf("taken back, the challenger is %q, want %s", got, sha)
	}
}

// TestDecidingNamesTheNearest: a slip of the hand is told what it may have meant,
// and a candidate that waits for nobody is told apart from none.
func TestDecidingNamesTheNearest(t *testing.T) {
	shelf(t)
	sha := challengerOf(t)
	swapped := sha[:6] + sha[7:8] + sha[6:7]
	if swapped == sha[:8] {
		t.Fatal("the slip is none")
	}
	for _, c := range []struct{ arg, says string }{
		{"tagger@" + swapped, "did you mean tagger@" + sha[:8] + "?"},
		{"tagger", "say which candidate: tagger@CANDIDATE"},
		{"tagger", "what waits: tagger@" + sha[:12]},
		{"tagger@", "say which candidate"},
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
