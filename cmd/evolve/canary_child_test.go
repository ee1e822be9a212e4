package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A child that does not need a key has none: not in its environment, not in a
// process list. One that was named with --pass-env it has, and no other.
func TestChildrenGetNoKeys(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	home, data, out := t.TempDir(), t.TempDir(), t.TempDir()
	claude := filepath.Join(home, ".claude")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(claude, "skills", "plot", "SKILL.md"), "---\nname: plot\ndescription: Draws charts.\n---\n\n# Charts\n\n- Draw what is asked for.\n- Keep it short.\n")
	// The agent notes what it can see of itself and of the processes above it.
	agent := filepath.Join(out, "agent.sh")
	write(agent, fmt.Sprintf("#!/bin/sh\nF=%s/seen.$$\n(env; tr '\\0' '\\n' </proc/$PPID/cmdline; cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n') >$F\ncase $(cat) in\n*'\"ping\"'*) echo '{\"ok\":true,\"name\":\"noter\",\"version\":\"1\"}' ;;\n*) echo \"{\\\"answer\\\":\\\"the answer: $WANTED_TOKEN\\\"}\" ;;\nesac\n", out))
	var cases strings.Builder
	for i := range 4 {
		fmt.Fprintf(&cases, `{"id":"c%d","skill":"plot","prompt":"say number %d","split":"test","checks":[{"type":"contains","value":"answer"}]}`+"\n", i, i)
	}
	// In halves, so that this program's own text and arguments hold none.
	keys := map[string]string{}
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "GH_TOKEN", "AWS_SECRET_ACCESS_KEY", "SOME_PASSWORD", "WANTED_TOKEN"} {
		keys[name] = strings.ToLower(name[:4]) + "-9x-" + fmt.Sprint(len(name)*7919*7919)
	}
	evolve := func(stdin string, args ...string) string {
		t.Helper()
		c := exec.Command(os.Args[0], append(args, "--claude-home", claude)...)
		c.Env = []string{"EVOLVE_TEST_AS_MAIN=1", "EVOLVE_HOME=" + data, "HOME=" + home, "PATH=" + os.Getenv("PATH")}
		for name, v := range keys {
			c.Env = append(c.Env, name+"="+v)
		}
		c.Stdin = strings.NewReader(stdin)
		var both bytes.Buffer
		c.Stdout, c.Stderr = &both, &both
		if err := c.Run(); err != nil {
			t.Fatalf("evolve %s: %v: %s", strings.Join(args, " "), err, both.String())
		}
		return both.String()
	}
	evolve(cases.String(), "cases", "import", "-")
	evolve("", "privacy", "agree", "command:"+filepath.Base(agent))
	said := evolve("", "compare", "plot", "none", "--agent", "command", "--command", "sh "+agent, "--sandbox", "none", "--pass-env", "WANTED_TOKEN", "--json")
	notes, err := filepath.Glob(filepath.Join(out, "seen.*"))
	if err != nil || len(notes) == 0 {
		t.Fatalf("the agent was never run (%v): %s", err, said)
	}
	wanted := false
	for _, note := range notes {
		text, err := os.ReadFile(note)
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range keys {
			if name == "WANTED_TOKEN" {
				wanted = wanted || bytes.Contains(text, []byte(v))
				for line := range strings.Lines(string(text)) {
					if strings.Contains(line, v) && !strings.HasPrefix(line, name+"=") {
						t.Errorf("%s stands in a process list: %q", name, line)
					}
				}
			} else if bytes.Contains(text, []byte(v)) {
				t.Errorf("the child sees %s", name)
			}
		}
	}
	if !wanted {
		t.Error("the child did not get the variable that it was promised")
	}
	for _, root := range []string{data} {
		files, err := filepath.Glob(filepath.Join(root, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			for name, v := range keys {
				if err == nil && bytes.Contains(text, []byte(v)) {
					t.Errorf("%s holds the value of %s, which the agent repeated", filepath.Base(file), name)
				}
			}
		}
	}
	if strings.Contains(said, keys["WANTED_TOKEN"]) {
		t.Errorf("the value of WANTED_TOKEN is printed: %s", said)
	}
}
