package plugineval

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/agenttest"
)

// `claude plugin eval` loads what Write wrote, and its graders decide as the checks do.
func TestRealClaudeLoadsExport(t *testing.T) {
	if os.Getenv("EVOLVE_REAL_AGENTS") != "1" {
		t.Skip("only the real program can show this: EVOLVE_REAL_AGENTS=1")
	}
	claude := os.Getenv("EVOLVE_REAL_CLAUDE")
	if claude == "" {
		t.Fatal("EVOLVE_REAL_AGENTS=1 needs EVOLVE_REAL_CLAUDE")
	}
	s := agenttest.NewServer(t, nil, agenttest.Reply{Text: "It is granite (1+1).", Input: 20, Output: 5})
	dir := t.TempDir()
	put(t, dir, ".claude-plugin/plugin.json", `{"name": "stones", "version": "0.1.0", "description": "names stones", "author": {"name": "a"}}`)
	put(t, dir, "skills/stones/SKILL.md", "---\nname: stones\ndescription: Names stones.\n---\n\n# Stones\n")
	no := false
	want := []eval.Case{
		{ID: "met", Skill: "stones", Prompt: "which stone?", Split: eval.Test, Cluster: "c", Checks: []eval.Check{
			{Type: eval.Contains, Value: "(1+1)", Feedback: "sum it"}, {Type: eval.Regex, Value: "(?i)GRANITE"}, {Type: eval.MaxChars, Max: 20},
			{Type: eval.Equals, Value: "It is granite (1+1)."}, {Type: eval.NotContains, Value: "basalt"}, {Type: eval.SkillNotInvoked, Value: "stones"}, {Type: eval.Ran, Value: "make"}}},
		{ID: "unmet", Skill: "stones", Prompt: "---\nwhich stone?\n---\n", Checks: []eval.Check{
			{Type: eval.Contains, Value: "Granite"}, {Type: eval.MaxChars, Max: 19}, {Type: eval.Equals, Value: "granite"}, {Type: eval.SkillInvoked, Value: "stones"},
			{Type: eval.ToolCalled, Value: "Read"}, {Type: eval.FileExists, Path: "out.md"}, {Type: eval.FileContains, Path: "out.md", Value: "x", Weight: 2}}},
		{ID: "quiet", Skill: "stones", Prompt: "what time is it?", ShouldTrigger: &no, Checks: []eval.Check{{Type: eval.Trigger}}},
	}
	if n, notes, err := Write(dir, want); n != len(want) || err != nil {
		t.Fatalf("wrote %d, %v, %v", n, notes, err)
	}
	home := t.TempDir()
	result := filepath.Join(home, "result.json")
	c := exec.CommandContext(t.Context(), claude, "plugin", "eval", dir, "--trust-plugin", "--runs", "1", "--ablation", "none", "--no-publish",
		"--threshold", "0", "--json", result, "--output-dir", filepath.Join(home, "out"))
	c.Dir = home
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + t.TempDir(), "ANTHROPIC_BASE_URL=" + s.Root, "ANTHROPIC_API_KEY=" + agenttest.Key,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}
	out, err := c.CombinedOutput()
	text, readErr := os.ReadFile(result)
	if readErr != nil {
		t.Fatalf("claude plugin eval: %v\n%s", err, out)
	}
	var r struct {
		Cases []struct {
			Name string
			Arms struct {
				With []struct {
					Graders []struct{ Passed bool }
				}
			}
		}
	}
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	passed := map[string][]bool{}
	for _, c := range r.Cases {
		for _, run := range c.Arms.With {
			for _, g := range run.Graders {
				passed[c.Name] = append(passed[c.Name], g.Passed)
			}
		}
	}
	if want := map[string][]bool{"met": {true, true, true, true, true, true}, "unmet": make([]bool, 7), "quiet": {true}}; !reflect.DeepEqual(passed, want) {
		t.Errorf("graders passed %v, want %v\n%s\n%s", passed, want, out, text)
	}
}
