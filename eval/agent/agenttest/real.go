package agenttest

import (
	"os"
	"testing"
)

// RealClaude is the path of the real Claude Code. It skips the test where EVOLVE_REAL_AGENTS is
// not 1, and fails it where no program is named.
func RealClaude(t testing.TB) string {
	t.Helper()
	if os.Getenv("EVOLVE_REAL_AGENTS") != "1" {
		t.Skip("EVOLVE_REAL_AGENTS is not 1")
	}
	claude := os.Getenv("EVOLVE_REAL_CLAUDE")
	if claude == "" {
		t.Fatal("EVOLVE_REAL_CLAUDE names no program; `eval \"$(.ci/agents)\"` sets it")
	}
	return claude
}
