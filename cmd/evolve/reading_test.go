package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/record"
)

const taggerV0 = `---
name: tagger
description: Tags release notes.
---

# Tagger

- Use at most three tags.

<!-- kernel -->
Print one line of JSON.
<!-- /kernel -->
`

// shelf fills a home with one skill's history, on fixed days: found, evolved and
// proven, edited by hand (live); one challenger on trial, another rejected.
// Whatever a person or a model may have written tries to paint the terminal.
func shelf(t *testing.T) (live string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("EVOLVE_HOME", filepath.Join(dir, "evolve"))
	t.Setenv("CLAUDE_CONFIG_DIR", dir)
	v1 := strings.Replace(taggerV0, "at most three tags", "one tag", 1)
	live = strings.Replace(v1, "one tag", "one short tag", 1)
	waiting := strings.Replace(live, "- Use", "- Sort them.\n- Use", 1)
	lost := live + "\n\x1b[41mBe\x1b[0m rude.\n"
	path := filepath.Join(dir, "skills", "tagger", skill.FileName)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(live), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	db, err := store.Open(ctx, filepath.Join(dir, "evolve", "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	defer func() { must(db.Close()) }()
	hash := func(text string) string { return skill.HashText([]byte(text)) }
	day := func(n int) time.Time { return time.Date(2026, 4, n, 3, 0, 0, 0, time.UTC) }

	must(db.SaveSession(ctx, &harvest.Session{ID: "s-1", Agent: "claude-code", Path: "s-1.jsonl", Started: day(1),
		Turns: []harvest.Turn{{ID: "t-1", Prompt: "tag it"}, {ID: "t-2", Prompt: "no, sort them"}},
		Invocations: []harvest.Invocation{{ID: "i", Skill: "tagger", Turn: 0, Signal: harvest.PromptSlashCommand, Explicit: true,
			Feedback: harvest.Feedback{Label: harvest.Corrected, Confidence: 1, Evidence: "no, \x1b[31msort\x1b[0m them", Turn: 1}}}}))
	_, _, err = db.SaveCases(ctx, []eval.Case{
		{ID: "c-1", Skill: "tagger", Prompt: "tag it\x1b]0;owned\x07 now", Split: eval.Train, Checks: []eval.Check{{Type: eval.Contains, Value: "a,b"}},
			Source: &eval.Source{Agent: "claude-code", Session: "s-1", Turn: "t-1", Origin: "mined", Outcome: "corrected"}},
		{ID: "c-2", Skill: "tagger", Prompt: "tag that", Split: eval.Train, Checks: []eval.Check{{Type: eval.Judge, Rubric: "says why"}}},
		{ID: "c-3", Skill: "tagger", Prompt: "held out", Split: eval.Test, Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}},
	})
	must(err)

	trial := func(q float64, n int) *pareto.Trial {
		tr := pareto.NewTrial(pareto.DefaultConfig())
		for range n {
			tr.Add(pareto.Pair{Quality: q, Retries: q})
		}
		return tr
	}
	evidence, err := json.Marshal(gate.Verdict{Decision: trial(1, 40).Decide()})
	must(err)
	for _, v := range []record.Version{
		{SHA: hash(taggerV0), Author: "you", Operator: "edit", Note: "found", Text: []byte(taggerV0), Created: day(1)},
		{SHA: hash(v1), Parent: hash(taggerV0), Author: "evolve", Operator: "reflect", Run: "r1", Evidence: evidence, Proven: true, Text: []byte(v1), Created: day(2)},
		{SHA: hash(live), Parent: hash(v1), Author: "you", Operator: "edit", Note: "edited \x1b[2Jby hand", Text: []byte(live), Created: day(3)},
	} {
		v.Skill = "tagger"
		_, err := db.SaveVersion(ctx, v)
		must(err)
	}
	run := &record.Run{ID: "20260404-030000-00000a", Skill: "tagger", Status: record.Finished, Incumbent: hash(live), Challenger: hash(waiting), Started: day(4), Ended: day(4)}
	j := db.Journal(run.ID)
	must(j.SaveRun(ctx, run))
	for i, c := range []record.Candidate{
		{SHA: hash(live), Operator: "found", State: record.Seed, Text: []byte(live)},
		{SHA: hash(waiting), Operator: "reflect", State: record.Pooled, Parents: []string{hash(live)}, Taught: []string{"c-1", "c-2", "c-gone"}, Text: []byte(waiting)},
		{SHA: hash(lost), Operator: "prune", State: record.Pooled, Parents: []string{hash(live)}, Text: []byte(lost)},
	} {
		c.Run, c.Seq = run.ID, i
		must(j.SaveCandidate(ctx, &c))
	}
	best := 0.5
	for i, e := range []record.Event{
		{Kind: "search_start", Data: json.RawMessage(`{"train":2,"val":1}`)},
		{Kind: "seed", Data: json.RawMessage(`{"quality":0.5,"cases":1}`), Rollouts: 1, Best: &best},
		{Kind: "invalid", Data: json.RawMessage(`{"sha256":"abcdef0123456789","operator":"reflect","reason":"new-host: \u001b[31mevil.example"}`), Rollouts: 1, Best: &best},
		{Kind: "gate_pair", Data: json.RawMessage(`{"quality":1,"e_value":1.53,"cases":1}`), Rollouts: 3},
	} {
		e.Run, e.Seq, e.Time = run.ID, i, day(4)
		must(j.AppendEvent(ctx, e))
	}
	for _, x := range []struct {
		text     string
		decision pareto.Verdict
		trial    *pareto.Trial
		day      int
	}{{waiting, pareto.Undecided, trial(1, 3), 5}, {lost, pareto.Reject, trial(-1, 40), 4}} {
		state, err := json.Marshal(map[string]any{"version": 1, "start": trial(0, 0), "start_clusters": nil, "trial": x.trial, "clusters": nil})
		must(err)
		must(j.SaveTrial(ctx, &record.TrialRecord{Skill: "tagger", Incumbent: hash(live), Challenger: hash(x.text), Run: run.ID,
			Decision: x.decision, State: state, Updated: day(x.day)}))
	}
	return live
}

// read runs the program and returns what it printed.
func read(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(context.Background(), machine{}, args, strings.NewReader(""), &out, &errs)
	return out.String(), errs.String(), code
}

// TestReading holds what the reading commands print of a history with hostile
// words to testdata/reading.
func TestReading(t *testing.T) {
	shelf(t)
	for name, args := range map[string][]string{
		"log":      {"log", "tagger"},
		"log.json": {"log", "tagger", "--json"},
		"run":      {"log", "--run", "last"},
		"run.json": {"log", "--run", "20260404", "--json"},
		"why":      {"show", "tagger@challenger", "--why"},
		"why.json": {"show", "tagger@challenger", "--why", "--json"},
		"diff":     {"diff", "tagger"},
		"edit":     {"diff", "tagger", "v0", "v2"},
	} {
		t.Run(name, func(t *testing.T) {
			got, stderr, code := read(t, args...)
			if code != exitDone || stderr != "" {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			if strings.ContainsAny(got, "\x1b\x07") {
				t.Errorf("an escape sequence reached the output: %q", got)
			}
			path := filepath.Join("testdata", "reading", name)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s\n(-update rewrites it)", got, want)
			}
		})
	}
}

// TestShowIsTheFile: what show prints into a pipe may be written back.
func TestShowIsTheFile(t *testing.T) {
	live := shelf(t)
	if got, _, _ := read(t, "show", "tagger"); got != live {
		t.Errorf("show prints %q, the file holds %q", got, live)
	}
	if got, _, _ := read(t, "show", "tagger@v0"); got != taggerV0 {
		t.Errorf("show prints %q of v0", got)
	}
}

// TestReadingChangesNothing: an unrecorded edit stays unrecorded.
func TestReadingChangesNothing(t *testing.T) {
	live := shelf(t)
	path := filepath.Join(os.Getenv("CLAUDE_CONFIG_DIR"), "skills", "tagger", skill.FileName)
	if err := os.WriteFile(path, []byte(live+"\nmine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, _, code := read(t, "log", "tagger")
		if code != exitDone || !strings.HasPrefix(got, "tagger was edited since: ") || strings.Contains(got, "v3") {
			t.Errorf("exit %d: %s", code, got)
		}
	}
}

// TestDiffAfterInstalling: without a challenger, diff tells what the last
// version changed.
func TestDiffAfterInstalling(t *testing.T) {
	shelf(t)
	path := filepath.Join(os.Getenv("CLAUDE_CONFIG_DIR"), "skills", "tagger", skill.FileName)
	v1, _, _ := read(t, "show", "tagger@v1")
	if err := os.WriteFile(path, []byte(v1), 0o600); err != nil {
		t.Fatal(err)
	}
	// No trial is against v1; the run's challenger is still what it came to.
	if got, stderr, _ := read(t, "diff", "tagger"); !strings.HasPrefix(got, "--- tagger v1 (live)\n+++ tagger candidate ") {
		t.Errorf("%s%s", got, stderr)
	}
	challenger, _, _ := read(t, "show", "tagger@60bf10c7")
	if err := os.WriteFile(path, []byte(challenger), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := read(t, "diff", "tagger"); !strings.Contains(got, "are the same text") {
		t.Errorf("nothing is known of before, and still %s", got)
	}
	ctx := context.Background()
	db, err := store.Open(ctx, filepath.Join(os.Getenv("EVOLVE_HOME"), "evolve.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.SaveVersion(ctx, record.Version{Skill: "tagger", SHA: skill.HashText([]byte(challenger)), Parent: skill.HashText([]byte(v1)),
		Author: "evolve", Text: []byte(challenger)}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := read(t, "diff", "tagger"); !strings.HasPrefix(got, "--- tagger v1\n+++ tagger v3 (live)\n") {
		t.Errorf("%s", got)
	}
}

// TestCompareWarnsOfHeldOutCases: a candidate that the gate has not decided on
// must not be chosen by what only the gate may look at.
func TestCompareWarnsOfHeldOutCases(t *testing.T) {
	shelf(t)
	const warning = "no search has seen these requests"
	got, stderr, code := read(t, "compare", "tagger", "v0", "challenger", "--agent", "simulated", "-q")
	if code != exitDone || !strings.Contains(got, warning) {
		t.Errorf("exit %d: %s%s", code, got, stderr)
	}
	got, stderr, code = read(t, "compare", "tagger", "v0", "v1", "--agent", "simulated", "-q")
	if code != exitDone || strings.Contains(got, warning) || !strings.Contains(got, "only 1 independent case:") {
		t.Errorf("exit %d: %s%s", code, got, stderr)
	}
}
