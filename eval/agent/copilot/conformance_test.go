package copilot_test

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/skill-evolve/evolve/eval/agent/agenttest"
	"github.com/skill-evolve/evolve/eval/agent/copilot"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

func TestConformance(t *testing.T) {
	cache := runtimeCache(t)
	if f := flag.Lookup("agenttest.record"); f != nil && f.Value.String() == "true" {
		copilot.SetGrace(time.Minute)
	}
	unsupported := make(map[agenttest.Scenario]string)
	if os.Getenv("EVOLVE_REAL_AGENTS") != "1" {
		unsupported[agenttest.HugeOutput] = "not recorded: the program repeats what a command prints as it comes, " +
			"which is too much to record; the real one shows it"
	}
	agenttest.RunProgram(t, agenttest.Program{
		Unsupported: unsupported,
		Name:        "copilot",
		RPC:         true,
		Loads:       []string{".claude/skills/of-claude/SKILL.md", ".agents/skills/of-agents/SKILL.md", ".github/skills/of-github/SKILL.md"},
		New: func(t *testing.T, s agenttest.Setup) agenttest.Agent {
			a, err := copilot.New(t.Context(), replay.Config{Path: s.Path, Model: "scripted", BaseURL: s.Server.URL,
				Credentials: []string{"COPILOT_PROVIDER_API_KEY=" + s.Key},
				Env:         append(s.Env, "COPILOT_PKG_CACHE_HOME="+cache), Sandbox: s.Sandbox, Owner: s.Owner})
			if err != nil {
				t.Fatal(err)
			}
			return a
		},
		// It tries again five times.
		Calls: 6,
	})
}

// runtimeCache is the folder into which the program unpacks itself, once for all tests
// that run it: 230 MB, which not every test should have in a home of its own.
func runtimeCache(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("EVOLVE_REAL_COPILOT_CACHE"); dir != "" {
		return dir
	}
	return t.TempDir()
}
