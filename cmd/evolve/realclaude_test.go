package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent/agenttest"
	"github.com/skill-evolve/evolve/eval/agent/process"
)

// recorded is a session in which a chart was asked for, corrected ("no, use a
// log scale") and accepted in the end.
const recorded = "11111111-2222-4333-8444-555555555555"

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// A call has an id of its own in every session: two with one id are copies of one use.
var callID = regexp.MustCompile(`\b(?:toolu|call)_\w+`)

// wishes are requests that have little in common but the skill.
func wishes() (out []string) {
	subjects := []string{"rainfall in Lisbon", "bakery turnover", "server latency percentiles", "election turnout", "bicycle thefts",
		"coffee exports", "marathon finishing times", "library loans", "solar panel yield", "hospital admissions", "ferry passengers",
		"wheat futures", "podcast downloads", "glacier thickness", "museum visitors", "chess ratings", "parking fines", "honey harvests",
		"satellite launches", "newborn names", "battery discharge", "salmon counts", "tram delays", "lottery jackpots", "pollen levels",
		"vineyard acreage", "earthquake magnitudes", "cinema tickets", "bridge tolls", "penguin colonies", "steel output", "violin auctions"}
	asks := []string{"Draw %s from data/%d.csv", "I need a picture of %s, the numbers are in input/%d.csv", "plot %s (see sheet %d)",
		"Could you visualise %s using export-%d.csv?"}
	for i, s := range subjects {
		out = append(out, fmt.Sprintf(asks[i%len(asks)], s, i+10))
	}
	return out
}

// busyPerson is a home in which every wish was a session of its own.
func busyPerson(t *testing.T) (claude string) {
	t.Helper()
	claude = person(t)
	dir := filepath.Join(claude, "projects", "-home-dev-project")
	text, err := os.ReadFile(filepath.Join(dir, recorded+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, wish := range wishes() {
		other := uuid.ReplaceAllFunc(text, func(id []byte) []byte {
			h := sha256.Sum256(fmt.Appendf(nil, "%d %s", i, id))
			return fmt.Appendf(nil, "%x-%x-4%03x-8%03x-%x", h[:4], h[4:6], h[6], h[7], h[8:14])
		})
		other = callID.ReplaceAllFunc(other, func(id []byte) []byte { return fmt.Appendf(nil, "%s%02d", id, i) })
		quoted, err := json.Marshal(wish)
		if err != nil {
			t.Fatal(err)
		}
		other = bytes.ReplaceAll(other, []byte("Make a chart of data/revenue.csv"), bytes.Trim(quoted, `"`))
		name := fmt.Sprintf("%08x-0000-4000-8000-000000000000.jsonl", i)
		if err := os.WriteFile(filepath.Join(dir, name), other, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return claude
}

// drawer is the scripted model behind the real program: as an agent it writes
// a file and draws a linear scale unless its skill contains log; as mutator
// and miner it adopts the user's correction.
func drawer(q agenttest.Request) agenttest.Reply {
	const lesson = "Use a log scale for everything that grows."
	use := agenttest.Reply{Input: 1200, Output: 60}
	switch {
	case !q.Side && q.Step == 0:
		use.Tools = []agenttest.Op{agenttest.Bash("echo '<svg/>' > chart.svg")}
	case !q.Side && strings.Contains(q.Text, lesson):
		use.Text = "Chart saved to chart.svg with a log scale on the y axis."
	case !q.Side:
		use.Text = "Chart saved to chart.svg with a linear scale."
	case strings.Contains(q.Text, "You read what people said"):
		use.Text = "```json\n{\"moments\":[]}\n```"
	case strings.Contains(q.Text, "You turn a user's correction"):
		use.Text = "```json\n{\"checks\":[{\"type\":\"regex\",\"value\":\"(?i)log[- ]?scale\",\"feedback\":\"the axis must be logarithmic\"}]}\n```"
	case strings.Contains(q.Text, "You compare two answers"):
		use.Text = `{"reason": "the same", "better": "neither"}`
	case strings.Contains(q.Text, "You grade"):
		use.Text = `{"score": 1, "reason": "as asked"}`
	default:
		if m := currentText.FindStringSubmatch(q.Prompt); m != nil {
			use.Text = "They want a log scale.\n```\n" + m[1] + "5. " + lesson + "\n```\n"
		} else {
			use.Text = "A chart"
		}
	}
	return use
}

// realClaude is the real program, and the sandbox that works here. Without the real agents the
// test is skipped.
func realClaude(t *testing.T) (program, sandbox string) {
	t.Helper()
	if os.Getenv("EVOLVE_REAL_AGENTS") != "1" {
		t.Skip("EVOLVE_REAL_AGENTS is not 1")
	}
	program = os.Getenv("EVOLVE_REAL_CLAUDE")
	if program == "" {
		t.Fatal("EVOLVE_REAL_CLAUDE names no program; `eval \"$(.ci/agents)\"` sets it")
	}
	sandbox = "on"
	if err := process.Available(); err != nil {
		t.Logf("without a sandbox: %v", err)
		sandbox = "none"
	}
	return program, sandbox
}

// TestRealClaude is the main job with the real Claude Code program as agent,
// mutator and judge: from recorded sessions to a version that is installed, and
// back. The program's own folders in the person's home stay as they were.
func TestRealClaude(t *testing.T) {
	program, sandbox := realClaude(t)
	claude, home := busyPerson(t), t.TempDir()
	server := agenttest.Start(t, agenttest.Config{Answer: drawer})
	path := filepath.Join(claude, "skills", "dataviz", "SKILL.md")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(program, filepath.Join(bin, "claude")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("ANTHROPIC_API_KEY", agenttest.Key)
	t.Setenv("ANTHROPIC_BASE_URL", server.Root)
	t.Setenv("OPENAI_BASE_URL", "")

	args := []string{"--claude-home", claude}
	code, out, errs := runHere(t, home, append(args, "--skill", "dataviz", "--model", "claude-sonnet-5", "--json",
		"--objectives", "quality,retries", "--max-rollouts", "140", "--sandbox", sandbox, "--concurrency", "2")...)
	t.Logf("stderr:\n%s", errs)
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if want := fmt.Sprintf("harvest: %d new sessions, %[1]d uses of dataviz (%[1]d corrected, 0 accepted), %[1]d new cases", len(wishes())); !strings.Contains(errs, want) {
		t.Errorf("stderr does not say %q", want)
	}
	if !strings.Contains(errs, "agent claude/claude-sonnet-5") {
		t.Error("it does not say that claude was chosen")
	}
	var r runResult
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if r.Challenger == nil || r.Verdict.Decision != "promote" || !r.Kernel.Unchanged {
		t.Fatalf("result %s", out)
	}
	if !r.Spent.CostKnown || r.Spent.CostUSD <= 0 || r.Incumbent.Metrics.LatencyMS == nil {
		t.Errorf("spent %+v, incumbent %+v: want dollars and milliseconds", r.Spent, r.Incumbent.Metrics)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(before, now) {
		t.Errorf("the live skill changed before it was promoted: %v", err)
	}
	if code, _, errs = runHere(t, home, append(args, "promote", "dataviz")...); code != exitDone {
		t.Fatalf("promote: exit %d: %s", code, errs)
	}
	if now, err := os.ReadFile(path); err != nil || !strings.HasSuffix(string(now), "5. Use a log scale for everything that grows.\n") {
		t.Errorf("installed %q, %v", now, err)
	}
	if code, _, errs = runHere(t, home, append(args, "rollback", "dataviz")...); code != exitDone {
		t.Fatalf("rollback: exit %d: %s", code, errs)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(before, now) {
		t.Errorf("after the rollback %q, %v", now, err)
	}
	if strings.Contains(out+errs, agenttest.Key) {
		t.Error("the key was printed")
	}
}
