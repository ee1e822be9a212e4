package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval/agent/agenttest"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// TestRealPromotedHook has the real Claude Code call a hook before its better script is in place
// and after: what only the new one stops does not run then, and its message reaches the model.
func TestRealPromotedHook(t *testing.T) {
	claude := agenttest.RealClaude(t)
	p := newPost(t)
	p.versions()
	// session has the agent push with force; it reports whether that ran, and what reached the model.
	session := func() (ran, told bool) {
		work := t.TempDir()
		said := 0
		server := agenttest.Start(t, agenttest.Config{Side: "A title", Answer: func(agenttest.Request) agenttest.Reply {
			if said++; said == 1 {
				return agenttest.Reply{Tools: []agenttest.Op{agenttest.Bash("touch ran && git push origin main --force")}}
			}
			return agenttest.Reply{Text: "Done."}
		}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, claude, "-p", "--permission-mode", "bypassPermissions")
		c.Dir, c.Stdin = work, strings.NewReader("push it")
		c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "CLAUDE_CONFIG_DIR=" + filepath.Join(p.home, ".claude"), "TMPDIR=" + t.TempDir(),
			"ANTHROPIC_API_KEY=" + agenttest.Key, "ANTHROPIC_BASE_URL=" + server.Root, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1", "IS_SANDBOX=1"}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		_, err := os.Stat(filepath.Join(work, "ran"))
		return err == nil, slices.ContainsFunc(server.Requests(), func(q agenttest.Request) bool { return strings.Contains(q.Text, "push without force") })
	}
	if ran, told := session(); !ran || told {
		t.Errorf("with v0 the push should run, and did: %v; the model was told: %v", ran, told)
	}
	p.must("promote", p.script+"@"+skill.HashText(p.texts[1])[:12], "-y")
	if ran, told := session(); ran || !told {
		t.Errorf("with v1 the push should be stopped, and ran: %v; the model was told: %v", ran, told)
	}
	p.must("rollback", p.script)
	if ran, _ := session(); !ran {
		t.Error("after a rollback the push is stopped still")
	}
}
