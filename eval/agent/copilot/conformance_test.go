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
	agenttest.RunProgram(t, agenttest.Program{
		Name: "copilot",
		RPC:  true,
		New: func(t *testing.T, s agenttest.Setup) agenttest.Agent {
			a, err := copilot.New(t.Context(), replay.Config{Path: s.Path, Model: "scripted", BaseURL: s.Server.URL,
				Credentials: []string{"COPILOT_PROVIDER_API_KEY=" + s.Key},
				Env:         append(s.Env, "COPILOT_PKG_CACHE_HOME="+cache), Sandbox: s.Sandbox})
			if err != nil {
				t.Fatal(err)
			}
			return a
		},
		// It tries again five times.
		Calls: 6,
	})
}

// runtimeCache is where the program unpacks itself, once for all tests that run
// it: 230 MB, which no test should have in a home of its own.
func runtimeCache(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("EVOLVE_REAL_COPILOT_CACHE"); dir != "" {
		return dir
	}
	return t.TempDir()
}
