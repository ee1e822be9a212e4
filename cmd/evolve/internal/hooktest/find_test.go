package hooktest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/harvest/events"
)

// TestFind: a guard is found by what its command names, with the events, the tools, the time
// and the files that it needs.
func TestFind(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	put := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(home, "guards", "lint.py"), "", 0o644)
	put(filepath.Join(home, "bare.sh"), "", 0o755)
	put(filepath.Join(project, ".claude", "hooks", "own.sh"), "", 0o755)
	put(filepath.Join(home, ".claude", "near.sh"), "", 0o755) // a password of the agent's is beside it
	put(filepath.Join(project, "top.sh"), "", 0o755)
	put(filepath.Join(home, "guards", "rules.json"), `{"version": 1, "rules": []}`, 0o644)
	put(filepath.Join(home, "guards", "other.json"), `{}`, 0o644)
	user, own := filepath.Join(home, ".claude", "settings.json"), filepath.Join(project, ".claude", "settings.json")
	put(user, `{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "python3 ~/guards/lint.py", "timeout": 2.5}, {"type": "command", "command": "$HOME/bare.sh"}]}],
		"Stop": [{"hooks": [{"type": "command", "command": "python3 ~/guards/lint.py"}]}], "Notification": [{"hooks": [{"type": "command", "command": "beep"}]}]}}`, 0o644)
	put(own, `{"hooks": {"PreToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/own.sh --lint"}]}]}}`, 0o644)
	f := finder{home: home, project: project, files: []settings{{agent: "claude-code", path: user}, {agent: "claude-code", path: own, project: project}, {agent: "codex", path: filepath.Join(project, "none.json"), project: project}}}
	if g := f.hook(&handler{Type: "command"}, "claude-code", calls{}); g != nil {
		t.Errorf("a hook without a command is called %q", called(g.Command))
	}
	for _, c := range []struct {
		name, event string
		command     string
		readable    []string
		on          []string
		timeout     time.Duration
	}{
		{"lint", "Stop", "python3 " + home + "/guards/lint.py", []string{home + "/guards"}, []string{"Stop "}, 0},
		{"lint.py", "PreToolUse", "python3 " + home + "/guards/lint.py", []string{home + "/guards"}, []string{"PreToolUse Bash"}, 2500 * time.Millisecond},
		{"bare", "", home + "/bare.sh", []string{home + "/bare.sh"}, []string{"PreToolUse Bash"}, 0},
		{"own.sh", "", `"` + project + `"/.claude/hooks/own.sh --lint`, []string{project + "/.claude/hooks"}, []string{"PreToolUse Edit|Write"}, 0},
		{filepath.Join(home, ".claude", "near.sh"), "", home + "/.claude/near.sh", []string{home + "/.claude/near.sh"}, []string{"PreToolUse "}, 0},
		{filepath.Join(project, "top.sh"), "", project + "/top.sh", []string{project + "/top.sh"}, []string{"PreToolUse "}, 0},
		{filepath.Join(home, "guards", "rules.json"), "", "hook-kit guard " + home + "/guards/rules.json", []string{home + "/guards"}, []string{"PreToolUse "}, 0},
		{filepath.Join(home, "guards", "lint.py"), "", "python3 " + home + "/guards/lint.py", []string{home + "/guards"}, []string{"PreToolUse "}, 0},
	} {
		g, err := f.find(c.name, c.event)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var on []string
		for _, k := range g.on {
			on = append(on, k.Event+" "+k.Matcher)
		}
		if g.Timeout != c.timeout || g.Command != c.command || !slices.Equal(g.Readable, c.readable) || !slices.Equal(on, c.on) || g.Project != project {
			t.Errorf("%s: %+v at %q", c.name, g.Guard, on)
		}
	}
	// A script in the folder for temporary files is shown without it.
	file, err := os.CreateTemp("/tmp", "guard-*.sh")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if err := file.Chmod(0o755); err != nil {
		t.Fatal(err)
	}
	if g, err := f.find(file.Name(), ""); err != nil || !slices.Equal(g.Readable, []string{file.Name()}) {
		t.Errorf("%+v, %v", g, err)
	}
	if g, err := f.find("lint", ""); err != nil || len(g.on) != 2 {
		t.Errorf("both events of one command: %+v, %v", g, err)
	}
	for name, want := range map[string]string{"nosuch": "no hook is called", "beep": "which no transcript tells", "python3": "", filepath.Join(home, ".claude", "settings.json"): "is no program", filepath.Join(home, "guards", "other.json"): "is no program"} {
		if _, err := f.find(name, ""); err == nil && want != "" || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	put(own, "{", 0o644)
	if _, err := f.find("lint", ""); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("settings that are no JSON: %v", err)
	}
}

// TestMatcher: names are whole, anything else is a regular expression.
func TestMatcher(t *testing.T) {
	for _, c := range []struct {
		matcher, tool string
		want          bool
	}{{"", "Bash", true}, {"*", "Bash", true}, {"Bash", "Bash", true}, {"Bash", "BashOutput", false}, {"Edit|Write", "Write", true},
		{"Edit|Write", "MultiEdit", false}, {"mcp__.*", "mcp__a__b", true}, {"Notebook.*", "Bash", false}} {
		on := calls{Event: events.PreToolUse, Matcher: c.matcher}
		var err error
		if on.tool, err = on.matcher(); err != nil {
			t.Fatal(err)
		}
		g := &found{on: []calls{on}}
		if got := g.wants(&events.Event{Name: events.PreToolUse, Tool: c.tool}); got != c.want {
			t.Errorf("%q wants %s: %v", c.matcher, c.tool, got)
		}
		if g.wants(&events.Event{Name: events.Stop}) {
			t.Error("it wants an event that it is not called for")
		}
	}
}
