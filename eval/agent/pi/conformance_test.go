package pi_test

import (
	"testing"

	"github.com/skill-evolve/evolve/eval/agent/agenttest"
	"github.com/skill-evolve/evolve/eval/agent/pi"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

func TestConformance(t *testing.T) {
	agenttest.RunProgram(t, agenttest.Program{
		Name:  "pi",
		Loads: []string{"~/.pi/agent/APPEND_SYSTEM.md", ".pi/skills/of-pi/SKILL.md", ".agents/skills/of-agents/SKILL.md"},
		New: func(t *testing.T, s agenttest.Setup) agenttest.Agent {
			a, err := pi.New(t.Context(), replay.Config{Path: s.Path, Model: "scripted", BaseURL: s.Server.URL,
				Credentials: []string{"OPENAI_API_KEY=" + s.Key}, Env: s.Env, Sandbox: s.Sandbox, Owner: s.Owner})
			if err != nil {
				t.Fatal(err)
			}
			return a
		},
		// The program tries three times in all.
		Calls: 3,
	})
}
