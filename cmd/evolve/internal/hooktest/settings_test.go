package hooktest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/harvest/codex"
	"github.com/skill-evolve/evolve/harvest/copilot"
	"github.com/skill-evolve/evolve/harvest/events"
)

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil { //nolint:gosec // some are scripts
		t.Fatal(err)
	}
}

// TestCopilotSettings: where Copilot finds hooks, how they are written, what they are called for
// and in which form.
func TestCopilotSettings(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	own, github := filepath.Join(home, ".copilot"), filepath.Join(project, ".github")
	put(t, filepath.Join(own, "hooks", "deep", "a.json"), `{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "/nosuch/own.sh", "timeoutSec": 2, "matcher": "bash|view"}], "agentStop": [{"command": "/nosuch/own.sh", "timeout": 3}]}}`)
	put(t, filepath.Join(own, "settings.json"), `{"hooks": {"PreToolUse": [{"matcher": "Edit|task", "hooks": [{"type": "command", "command": "/nosuch/nested.sh"}]}, {"type": "http", "url": "https://h"}, {"powershell": "x"}]}}`)
	put(t, filepath.Join(own, "hooks.json"), `{`) // is none of its files
	put(t, filepath.Join(project, "scripts", "lint.sh"), "#!/bin/sh\n")
	put(t, filepath.Join(github, "hooks", "b.json"), `{"hooks": {"preToolUse": [{"bash": "sh ./lint.sh --all && echo lint.sh.txt", "cwd": "scripts", "env": {"B": "$HOME \"x\"", "A": "1"}}], "sessionEnd": [{"bash": "/nosuch/end.sh"}]}}`)
	put(t, filepath.Join(github, "copilot", "settings.local.json"), `{"hooks": {"PreToolUse": [{"bash": "$COPILOT_PROJECT_DIR/scripts/lint.sh", "matcher": "*"}]}}`)
	f := finder{home: home, project: project}
	f.add(backend.Home{Kind: copilot.Kind, Dir: own})
	event := func(own, tool string) *events.Event {
		return &events.Event{Name: events.PreToolUse, Tool: tool, Own: own, Input: []byte(`{"hook_event_name":"PreToolUse","tool_name":"` + tool + `","timestamp":"2026-11-28T10:00:00.000Z"}`)}
	}
	for _, c := range []struct {
		name, command string
		want, not     []*events.Event
		gets          string // at its first
		timeout       time.Duration
	}{
		{"own", "/nosuch/own.sh", []*events.Event{event("bash", "Bash"), event("view", "Read"), {Name: events.Stop}}, []*events.Event{event("create", "Write"), event("powershell", "Bash")}, "preToolUse bash", 3 * time.Second},
		{"nested.sh", "/nosuch/nested.sh", []*events.Event{event("apply_patch", "Edit"), event("task", "Agent")}, []*events.Event{event("bash", "Bash"), {Name: events.Stop}}, "PreToolUse Edit", 0},
		{"--all", `export A="1"; export B="$HOME \"x\""; sh ` + project + "/scripts/lint.sh --all && echo lint.sh.txt", []*events.Event{event("glob", "Glob")}, nil, "preToolUse glob", 0},
		{project + "/scripts/lint.sh", project + "/scripts/lint.sh", []*events.Event{event("glob", "Glob")}, nil, "PreToolUse Glob", 0},
	} {
		all := []*found{}
		for _, file := range f.files {
			in, err := f.settings(file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, in...)
		}
		var g *found
		for _, one := range all {
			if one.Command == c.command {
				if g == nil {
					g = one
				} else {
					g.on = append(g.on, one.on...)
				}
			}
		}
		if g == nil {
			t.Errorf("%s is not found", c.command)
			continue
		}
		var timeout time.Duration
		for _, on := range g.on {
			timeout = max(timeout, on.timeout)
		}
		if g.agent != guard.Copilot || g.Agent != guard.Copilot || timeout != c.timeout {
			t.Errorf("%s: %+v, %s", c.name, g.Guard, timeout)
		}
		for _, e := range c.want {
			if !g.wants(e) {
				t.Errorf("%s is not called for %s of %s", c.name, e.Name, e.Own)
			}
		}
		for _, e := range c.not {
			if g.wants(e) {
				t.Errorf("%s is called for %s of %s", c.name, e.Name, e.Own)
			}
		}
		name, tool, _ := strings.Cut(c.gets, " ")
		if got := g.event(c.want[0]); got.Name != name || !strings.Contains(string(got.Input), `"`+tool+`"`) {
			t.Errorf("%s gets %s %s", c.name, got.Name, got.Input)
		}
	}
	if g, err := f.find("lint.sh", ""); err == nil {
		t.Errorf("two hooks have one name: %+v", g)
	}
	g, err := f.find("--all", "")
	if err != nil || !slices.Equal(g.Readable, []string{project + "/scripts"}) || g.written != "sh ./lint.sh --all && echo lint.sh.txt" {
		t.Errorf("%+v, %v", g, err)
	}
	put(t, filepath.Join(github, "hooks", "near.sh"), "#!/bin/sh\n")
	put(t, filepath.Join(own, "near.sh"), "#!/bin/sh\n")
	for script, want := range map[string]string{filepath.Join(github, "hooks", "near.sh"): filepath.Join(github, "hooks"), filepath.Join(own, "near.sh"): filepath.Join(own, "near.sh")} {
		if g, err := f.find(script, ""); err != nil || !slices.Equal(g.Readable, []string{want}) {
			t.Errorf("%s: %+v, %v", script, g, err)
		}
	}
	if _, err := f.find("end", ""); err == nil || !strings.Contains(err.Error(), "which no transcript tells") {
		t.Error(err)
	}
}

// TestCodexTOML: Codex's hooks may stand in config.toml, with what its user trusts beside them.
func TestCodexTOML(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	config := filepath.Join(home, ".codex", "config.toml")
	put(t, config, `model = "m"
[hooks.state."/x/config.toml:pre_tool_use:0:0"]
trusted_hash = "sha256:1"
[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
type = "command"
command = "/nosuch/guard.sh"
timeout = 7
[[hooks.Stop]]
hooks = [{ type = "command", command = "/nosuch/guard.sh" }]
`)
	f := finder{home: home, project: project}
	f.add(backend.Home{Kind: codex.Kind, Dir: filepath.Join(home, ".codex")})
	g, err := f.find("guard", "")
	if err != nil || g.Command != "/nosuch/guard.sh" || g.agent != codex.Kind.Agent || g.Timeout != 7*time.Second || len(g.on) != 2 || g.on[0].Matcher != "Bash" || g.on[1].Event != events.Stop {
		t.Errorf("%+v, %v", g, err)
	}
	put(t, config, "[hooks")
	if _, err := f.find("guard", ""); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Error(err)
	}
}
