package owner

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// The environments and processes in testdata are those that a command of each agent's
// session saw; folders and ids are made up.
func TestRecordedSessions(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	want := map[string]string{"claude": "Claude Code", "codex": "Codex", "pi": "pi", "copilot": "Copilot"}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		env := map[string]string{}
		var parents [][]string
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if args, ok := strings.CutPrefix(lines.Text(), "PROC "); ok {
				parents = append(parents, strings.Fields(args))
			} else if k, v, ok := strings.Cut(lines.Text(), "="); ok {
				env[k] = v
			}
		}
		f.Close()
		agent := want[strings.TrimSuffix(filepath.Base(file), ".txt")]
		if got := Find(func(k string) string { return env[k] }, nil); got == nil || got.Name != agent {
			t.Errorf("%s: by its variables %+v", file, got)
		}
		if got := Find(func(string) string { return "" }, parents); got == nil || got.Name != agent {
			t.Errorf("%s: by its processes %+v", file, got)
		}
		for _, s := range signs { // any of its own is enough
			if s.agent == agent && env[s.variable] != "" {
				only := func(k string) string {
					if k == s.variable {
						return env[k]
					}
					return ""
				}
				if got := Find(only, nil); got == nil || got.Name != agent {
					t.Errorf("%s: by %s alone %+v", file, s.variable, got)
				}
			}
		}
	}
}

// A person's settings of an agent, and programs whose names resemble one, are no session.
func TestAPersonsTerminal(t *testing.T) {
	env := map[string]string{"CLAUDE_CONFIG_DIR": "/home/dev/.claude", "CODEX_HOME": "/home/dev/.codex", "PI_CODING_AGENT_DIR": "/home/dev/.pi",
		"COPILOT_HOME": "/home/dev/.copilot", "CLAUDE_CODE_SSE_PORT": "41000", "ANTHROPIC_API_KEY": "k", "CLAUDE_CODE_OAUTH_TOKEN": "t", "TERM_PROGRAM": "vscode"}
	parents := [][]string{{"-bash"}, {"/usr/bin/tmux", "new", "-s", "claude"}, {"vim", "codex"}, {"node", "--inspect", "/srv/app/server.js"}, {"pip", "install"}, {"/usr/lib/systemd/systemd"}, {"node"}, {}}
	if got := Find(func(k string) string { return env[k] }, parents); got != nil {
		t.Errorf("%+v", got)
	}
}

func TestParents(t *testing.T) {
	if os.Getenv("PRINT_PARENTS") != "" {
		for _, p := range Parents() {
			os.Stdout.WriteString(strings.Join(p, " ") + "\n")
		}
		os.Exit(0)
	}
	if runtime.GOOS != "linux" {
		t.Skip("read from /proc")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// The agent's process has other processes between itself and the command.
	script := filepath.Join(dir, "codex")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nsh -c \"$1 -test.run TestParents; true\"\ntrue\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("bash", "-c", "exec -a /opt/agents/codex sh "+script+" "+exe)
	c.Env = append(os.Environ(), "PRINT_PARENTS=1")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var parents [][]string
	for line := range strings.Lines(string(out)) {
		parents = append(parents, strings.Fields(line))
	}
	if got := Find(func(string) string { return "" }, parents); got == nil || got.Name != "Codex" {
		t.Errorf("%+v of %v", got, parents)
	}
	if !slices.ContainsFunc(parents, func(p []string) bool { return len(p) > 0 && strings.HasPrefix(p[0], exe) }) {
		t.Errorf("the test itself is not among the parents: %v", parents)
	}
}
