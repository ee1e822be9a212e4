package main

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// TestChallengerWaits: an undecided challenger keeps its place until cases
// come or its owner decides otherwise, and waiting costs nothing.
func TestChallengerWaits(t *testing.T) {
	claude, home := person(t), t.TempDir()
	// The only session of which nothing else is like: its use would be held out.
	silent, err := filepath.Glob(filepath.Join(claude, "projects", "*", "b83cd746*.jsonl"))
	if err != nil || len(silent) != 1 {
		t.Fatal(silent, err)
	}
	if err := os.Remove(silent[0]); err != nil {
		t.Fatal(err)
	}
	model := &plotter{}
	srv := httptest.NewServer(model)
	defer srv.Close()
	args := []string{"--skill", "dataviz", "--claude-home", claude, "--agent", "openai", "--base-url", srv.URL + "/v1",
		"--model", "plotter", "--reflect-model", "helper", "--concurrency", "1"}
	if code, out, errs := runHere(t, home, args...); code != exitDone || !strings.Contains(out, "not decided yet") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	asked := len(model.seen)
	code, out, errs := runHere(t, home, args...)
	if code != exitDone || !strings.Contains(out, "waits for more cases; nothing was spent") || !strings.Contains(out, "--anew") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	code, out, errs = runHere(t, home, append(args, "--json")...)
	var r runResult
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitDone {
		t.Fatalf("exit %d: %v in %s%s", code, err, out, errs)
	}
	for _, field := range []string{"run", "status", "incumbent", "challenger", "verdict", "front", "worth", "spent", "kernel", "warnings", "targets", "report"} {
		if !strings.Contains(out, "\n  \""+field+"\": ") {
			t.Errorf("no %q in %s", field, out)
		}
	}
	if staged, err := os.ReadFile(r.Challenger.Path); err != nil || skill.HashText(staged) != r.Challenger.SHA ||
		r.Verdict.Decision != "undecided" || r.Verdict.Alpha == 0 || len(r.Incumbent.SHA) != 64 || !r.Kernel.Unchanged || r.Spent.AgentCalls != 0 {
		t.Errorf("%v, %+v", err, r)
	}
	if n := len(model.seen); n != asked {
		t.Errorf("waiting made %d calls", n-asked)
	}
	if code, out, errs = runHere(t, home, append(args, "--anew")...); code != exitDone || !strings.Contains(out, "spent ") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
}

// TestRollbackMendsABrokenFile: a SKILL.md that no longer parses is when the way
// back is needed most, and the broken text is not lost either.
func TestRollbackMendsABrokenFile(t *testing.T) {
	claude, home := person(t), t.TempDir()
	path := filepath.Join(claude, "skills", "dataviz", "SKILL.md")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if code, _, errs := runHere(t, home, "status", "--claude-home", claude); code != exitDone {
		t.Fatal(errs)
	}
	if code, _, errs := runHere(t, home, "harvest", "--claude-home", claude); code != exitDone {
		t.Fatal(errs)
	}
	if code, _, errs := runHere(t, home, "--skill", "dataviz", "--claude-home", claude, "--agent", "simulated", "--dry-run"); code != exitDone {
		t.Fatal(errs)
	}
	broken := append(bytes.Clone(good), "\n<!-- kernel -->\nnever closed\n"...)
	if err := os.WriteFile(path, broken, 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := runHere(t, home, "--skill", "dataviz", "--claude-home", claude, "--agent", "simulated"); code != exitUsage {
		t.Fatalf("a broken skill ran: exit %d, %s", code, errs)
	}
	code, out, errs := runHere(t, home, "rollback", "dataviz", "--claude-home", claude)
	if code != exitDone {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	if live, err := os.ReadFile(path); err != nil || !bytes.Equal(live, good) {
		t.Errorf("live %q, %v", live, err)
	}
	code, out, errs = runHere(t, home, "show", "dataviz@v1", "--claude-home", claude)
	if code != exitDone || out != string(broken) {
		t.Errorf("exit %d: the broken text is lost: %q %s", code, out, errs)
	}
}
