package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval/agent/agenttest"
)

// TestRealFleet is a run whose replays the real Claude Code makes on two workers, each with a
// model's server of its own, in the sandbox: from recorded sessions to a verdict. The workers
// do not hear what is expected, and their keys stay with them.
func TestRealFleet(t *testing.T) {
	program, sandbox := realClaude(t)
	evolve, claude, files := build(t), busyPerson(t), t.TempDir()
	bin := t.TempDir()
	if err := os.Symlink(program, filepath.Join(bin, "claude")); err != nil {
		t.Fatal(err)
	}
	command := func(home, model string, args ...string) *exec.Cmd {
		t.Helper()
		c := exec.CommandContext(t.Context(), evolve, args...)
		c.Dir = files
		c.Env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home, "EVOLVE_HOME=" + home, "TMPDIR=" + t.TempDir(),
			"ANTHROPIC_API_KEY=" + agenttest.Key, "ANTHROPIC_BASE_URL=" + model}
		c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
		c.WaitDelay = 20 * time.Second
		return c
	}
	begin := func(c *exec.Cmd, says string) *bytes.Buffer {
		t.Helper()
		out := new(bytes.Buffer)
		r, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = c.Process.Signal(syscall.SIGTERM)
			_ = c.Wait()
		})
		for !strings.Contains(out.String(), says) {
			part := make([]byte, 1024)
			n, err := r.Read(part)
			if err != nil {
				t.Fatalf("%v: %v: %s", c.Args, err, out)
			}
			out.Write(part[:n])
		}
		return out
	}
	served, home := t.TempDir(), t.TempDir()
	begin(command(served, "", "fleet", "serve", "--listen", "127.0.0.1:0"), "to invite")
	var models []*agenttest.Server
	for _, name := range []string{"one", "two"} {
		if out, err := command(served, "", "fleet", "invite", name).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		model := agenttest.Start(t, agenttest.Config{Answer: drawer})
		models = append(models, model)
		begin(command(t.TempDir(), model.Root, "worker", "--join", name+".invitation.json", "--agent", "claude", "--slots", "1", "--sandbox", sandbox), "offers")
	}
	if out, err := command(served, "", "fleet", "invite", "lead", "--coordinator").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	allowEverything(t, home)
	own := agenttest.Start(t, agenttest.Config{Answer: drawer})
	c := command(home, own.Root, "--claude-home", claude, "run", "dataviz", "--model", "claude-sonnet-5", "--json", "-y",
		"--objectives", "quality,retries", "--max-rollouts", "100", "--sandbox", sandbox, "--fleet", "lead.invitation.json")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	t.Logf("%v; stderr:\n%s", err, errs.String())
	var r runResult
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	if r.Challenger == nil || r.Verdict == nil || r.Verdict.Wins == 0 || r.Verdict.Losses != 0 || !r.Kernel.Unchanged {
		t.Fatalf("result %s", out.String())
	}
	t.Logf("%s after %d pairs, e = %.1f: %s", r.Verdict.Decision, r.Verdict.Cases, r.Verdict.EValue, r.Verdict.Reason)
	for i, m := range models {
		replays := 0
		for _, q := range m.Requests() {
			if !q.Side {
				replays++
			}
			if strings.Contains(q.Text, "log[- ]?scale") { // the check itself; a second attempt hears what was wrong
				t.Errorf("worker %d was told what is expected", i+1)
			}
		}
		if replays < 15 {
			t.Errorf("worker %d made %d requests", i+1, replays)
		}
	}
	for _, q := range own.Requests() {
		if !q.Side && strings.Contains(q.Text, "Chart saved") {
			t.Error("a replay was made here")
		}
	}
	if strings.Contains(out.String()+errs.String(), agenttest.Key) {
		t.Error("the key was printed")
	}
}
