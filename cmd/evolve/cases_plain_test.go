package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
)

const sequences = "\x1b]0;PWNED\x07\x1b[31;1m\u009b31m\x1b[2J\u202e"

// Text of a session or an import reaches no terminal as a control sequence,
// and JSON has it exactly.
func TestCasesShowPlain(t *testing.T) {
	claude, home := person(t), t.TempDir()
	if code, _, errs := runHere(t, home, "harvest", "--claude-home", claude); code != exitDone {
		t.Fatalf("exit %d: %s", code, errs)
	}
	db, err := store.Open(t.Context(), filepath.Join(home, "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	c := eval.Case{ID: "odd" + sequences, Skill: "dataviz", Prompt: "p" + sequences, Reference: sequences, Cluster: sequences, Context: []eval.Message{{Role: "user", Text: sequences}},
		Checks: []eval.Check{{Type: eval.Contains, Value: sequences, Feedback: sequences}}, Source: &eval.Source{Origin: "mined", Session: sequences}}
	if _, _, err := db.SaveCases(t.Context(), []eval.Case{c}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"list", "dataviz"}, {"show", "dataviz", "odd"}, {"list", "dataviz", "--json"}, {"show", "dataviz", "odd", "--json"}, {"export", "dataviz"}} {
		code, out, errs := runHere(t, home, append(append([]string{"cases"}, args...), "--claude-home", claude)...)
		if code != exitDone || !strings.Contains(out, "odd") || strings.ContainsAny(out+errs, "\x1b\x07\u009b\u202e") {
			t.Errorf("%q: exit %d, %q%q", args, code, out, errs)
		}
		if args[0] == "show" && len(args) == 4 {
			var back eval.Case
			if err := json.Unmarshal([]byte(out), &back); err != nil || back.ID != c.ID || back.Prompt != c.Prompt {
				t.Errorf("JSON is not exact: %v, %q", err, back.ID)
			}
		}
	}
	file := filepath.Join(t.TempDir(), "cases.jsonl")
	line, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(line, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := runHere(t, home, "cases", "import", file, "--claude-home", claude); code != exitRefused || strings.ContainsAny(out+errs, "\x1b\x07\u009b") {
		t.Errorf("import: exit %d, %q%q", code, out, errs)
	}
}
