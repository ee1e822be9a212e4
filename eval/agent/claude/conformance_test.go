package claude

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/agent/agenttest"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

func setup(t *testing.T, s agenttest.Setup) *Agent {
	t.Helper()
	key := "ANTHROPIC_API_KEY="
	if strings.HasSuffix(t.Name(), "-limit") {
		key = oauthToken + "=" // only a subscription has a usage limit
	}
	a, err := New(t.Context(), replay.Config{Path: s.Path, Model: "claude-sonnet-4-5", BaseURL: s.Server.Root,
		Credentials: []string{key + s.Key}, Env: s.Env, Sandbox: s.Sandbox, Owner: s.Owner})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestConformance(t *testing.T) {
	agenttest.RunProgram(t, agenttest.Program{
		Name:  "claude",
		Loads: []string{"~/.claude/projects/-src-shop/memory/MEMORY.md", ".claude/skills/of-claude/SKILL.md"},
		New:   func(t *testing.T, s agenttest.Setup) agenttest.Agent { return setup(t, s) },
		Denied: func(t *testing.T, s agenttest.Setup) agenttest.Agent {
			a := setup(t, s)
			a.mode = "dontAsk"
			return a
		},
	})
}
