package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// answerAll plays the person who answers: every open request of the folder gets
// an answer beside it. It returns how many there were.
func answerAll(t *testing.T, dir string) (n int) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*", "request.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		answer := filepath.Join(filepath.Dir(path), "answer.md")
		if _, err := os.Stat(answer); err == nil {
			continue
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var q struct{ Kind, System, Prompt, Skill string }
		if err := json.Unmarshal(raw, &q); err != nil {
			t.Fatal(err)
		}
		text := "Chart saved to data/revenue.svg with a linear scale."
		switch {
		case q.Kind == "task":
			md, err := os.ReadFile(filepath.Join(filepath.Dir(path), "request.md"))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(md), "Use a log scale for revenue.") {
				text = "Chart saved with a log scale."
			}
		case strings.HasPrefix(q.System, "You read what people said"):
			text = "```json\n{\"moments\":[]}\n```"
		case strings.HasPrefix(q.System, "You compare"):
			text = `{"reason": "the same", "better": "neither"}`
		case strings.Contains(q.System+q.Prompt, "You grade the answer"):
			text = `{"score": 1, "reason": "as asked"}`
		case strings.HasPrefix(q.System, "You turn a user's correction"):
			text = "```json\n{\"checks\":[{\"type\":\"regex\",\"value\":\"(?i)log[- ]?scale\",\"feedback\":\"the axis must be logarithmic\"}]}\n```"
		default:
			m := currentText.FindStringSubmatch(q.Prompt)
			if m == nil {
				t.Fatalf("what is asked here?\n%s\n%s", q.System, q.Prompt)
			}
			text = "The user wants a log scale.\n```\n" + m[1] + "5. Use a log scale for revenue.\n```\n"
		}
		if err := os.WriteFile(answer, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Minute) // written long ago, as a person's would be
		if err := os.Chtimes(answer, old, old); err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// TestHandoff runs the main job with a person as agent, mutator and miner: no
// key, no server. The same command, typed again, goes on.
func TestHandoff(t *testing.T) {
	claude, home := person(t), t.TempDir()
	args := []string{"--skill", "dataviz", "--claude-home", claude, "--agent", "handoff", "--model", "me", "--no-wait", "--json"}
	dir := filepath.Join(home, "handoff")
	var out string
	asked, stops, runs := 0, 0, map[string]bool{}
	for ; ; stops++ {
		code, stdout, errs := runHere(t, home, args...)
		if code == exitDone {
			out = stdout
			break
		}
		if code != exitStopped || !strings.Contains(errs, "OPEN.md") || !strings.Contains(errs, "run the same command again") {
			t.Fatalf("exit %d: %s", code, errs)
		}
		for _, line := range strings.Split(errs, "\n") {
			if id, ok := strings.CutPrefix(line, "run "); ok {
				runs[strings.Fields(id)[0]] = true
			}
		}
		n := answerAll(t, dir)
		if n == 0 {
			t.Fatalf("it waits, and no request is open: %s", errs)
		}
		asked += n
		if stops > 40 {
			t.Fatal("it never ends")
		}
	}
	var r runResult
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Challenger == nil || r.Verdict.Decision != "undecided" || r.Incumbent.Metrics.Quality != .5 || r.Challenger.Metrics.Quality != 1 { // of half of the cases nobody said anything
		t.Fatalf("result %s", out)
	}
	if r.Incumbent.Metrics.LatencyMS != nil || r.Spent.CostKnown {
		t.Errorf("latency %v, cost known %v: how fast and dear a person is says nothing of a skill", *r.Incumbent.Metrics.LatencyMS, r.Spent.CostKnown)
	}
	if len(runs) != 1 {
		t.Errorf("%d runs began, want one that goes on", len(runs))
	}
	// Equal answers to equal requests are one question to the judge, and several in the bill.
	got := int(r.Spent.Rollouts + r.Spent.MutatorCalls + r.Spent.MinerCalls + r.Spent.JudgeCalls)
	if less := got - asked; less < 0 || less > int(r.Spent.JudgeCalls) {
		t.Errorf("%d requests were answered, %d calls are in the bill: nothing may be asked twice", asked, got)
	}
	t.Logf("%d requests in %d stops", asked, stops)
}
