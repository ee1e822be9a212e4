package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/store/datadir/policy"
)

// later runs the program in this process, on a machine whose clock is set.
func later(t *testing.T, home string, at time.Time, p *policy.Policy, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("EVOLVE_HOME", home)
	t.Setenv("HOME", home) // no other agent's sessions
	t.Setenv("OPENAI_API_KEY", "sk-test-not-a-key")
	var out, errs bytes.Buffer
	m := machine{clock: func() time.Time { return at }, policy: func() (*policy.Policy, error) { return p, nil }}
	code = run(context.Background(), m, args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// TestTextExpires: a search, its report and requests to a person, of models that repeat
// what they are told. Once the time of the sessions is over, no byte of the one whose
// case was dropped is left, of the other only what its case holds, and the counts are as
// they were. Purging the first one then leaves nothing.
func TestTextExpires(t *testing.T) {
	claude, home := plant(t), t.TempDir()
	allowEverything(t, home)
	t.Setenv("TMPDIR", t.TempDir())
	srv := httptest.NewServer(http.HandlerFunc(parrot))
	defer srv.Close()
	recorded := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	at := recorded.AddDate(0, 0, 2)
	var limit *policy.Policy
	evolve := func(want int, args ...string) string {
		t.Helper()
		code, out, errs := later(t, home, at, limit, append(args, "--claude-home", claude)...)
		if code != want {
			t.Fatalf("evolve %s: exit %d: %s", strings.Join(args, " "), code, errs)
		}
		return out + errs
	}
	model := []string{"--base-url", srv.URL + "/v1", "--model", "plotter", "--reflect-model", "helper", "--judge-model", "judge", "--concurrency", "1"}
	if out := evolve(exitDone, append([]string{"--skill", "dataviz", "--agent", "openai", "--max-rollouts", "40"}, model...)...); strings.Contains(out, "expired") {
		t.Fatalf("too early: %s", out)
	}
	evolve(exitStopped, "--skill", "dataviz", "--agent", "handoff", "--no-wait", "--anew", "--max-rollouts", "9")
	var dropped []string
	for _, l := range strings.Split(evolve(exitDone, "sessions", "show", canaries["a"]), "\n") {
		if f := strings.Fields(l); len(f) == 2 && f[0] == "case" {
			dropped = append(dropped, f[1])
		}
	}
	if len(dropped) == 0 {
		t.Fatal("no case was made of the session: this test shows nothing")
	}
	evolve(exitDone, append([]string{"cases", "drop", "dataviz"}, dropped...)...)
	texts := planted("a")[:7] // the id is a name, and stays
	if where := bytesUnder(t, home, texts); len(where) < 5 {
		t.Fatalf("the session is stored in %v: this test shows less than it says", where)
	}
	if len(bytesUnder(t, home, []string{"qzworka"})) == 0 {
		t.Fatal("no command is stored: this test shows less than it says")
	}
	staged, err := filepath.Glob(filepath.Join(home, "staged", "dataviz", "*"))
	if err != nil || len(staged) != 1 {
		t.Fatalf("%v are staged, %v: this test shows less than it says", staged, err)
	}
	evolve(exitDone, "reject", "dataviz@"+filepath.Base(staged[0]))
	counts := evolve(exitDone, "status")

	at = recorded.AddDate(0, 0, 29)
	if out := evolve(exitDone, "harvest"); strings.Contains(out, "expired") {
		t.Errorf("after 29 days: %s", out)
	}
	limit = &policy.Policy{KeepDays: 7} // can only shorten it
	at = recorded.AddDate(0, 0, 6)
	if out := evolve(exitDone, "harvest"); strings.Contains(out, "expired") {
		t.Errorf("after 6 of 7 days: %s", out)
	}
	limit, at = nil, recorded.AddDate(0, 0, 40)
	if out := evolve(exitDone, "harvest"); strings.Contains(out, "expired") || !strings.Contains(out, "the clock is") {
		t.Errorf("34 days after the last harvest: %s", out)
	}
	at = recorded.AddDate(0, 0, 41)
	out := evolve(exitDone, "harvest")
	if !strings.Contains(out, "the text of 5 sessions has expired") {
		t.Errorf("after 40 days: %s", out)
	}
	evolve(exitDone, "log", "dataviz")
	for where := range bytesUnder(t, home, texts) {
		t.Errorf("after its time: %s", where)
	}
	if len(bytesUnder(t, home, planted("b")[:1])) == 0 {
		t.Error("the live case has lost its prompt")
	}
	if now := evolve(exitDone, "status"); now != counts {
		t.Errorf("status changed:\n%s\nwas\n%s", now, counts)
	}
	if out := evolve(exitDone, "harvest"); strings.Contains(out, "expired") || !strings.Contains(out, "0 new or changed sessions (5 stored)") {
		t.Errorf("a second time: %s", out)
	}
	evolve(exitDone, "report", "last", "--json")
	evolve(exitDone, "log", "dataviz")
	evolve(exitDone, "sessions", "list")
	evolve(exitDone, "sessions", "show", canaries["a"])

	evolve(exitDone, "sessions", "purge", canaries["a"], "--yes")
	if now := bytesUnder(t, home, planted("a")); len(now) != 0 {
		t.Errorf("after the purge of an expired session: %v", now)
	}
	if out := evolve(exitDone, "harvest"); !strings.Contains(out, "(4 stored)") {
		t.Errorf("after the purge: %s", out)
	}
	if now := bytesUnder(t, home, planted("a")); len(now) != 0 {
		t.Errorf("after another harvest: %v", now)
	}
	// The case of the other lives, and knows whose project it is of.
	evolve(exitDone, "sessions", "purge", "--project", "/home/dev/qzpathb", "--yes")
	if now := bytesUnder(t, home, planted("b")); len(now) != 0 {
		t.Errorf("after the purge of an expired session with a case: %v", now)
	}
}
