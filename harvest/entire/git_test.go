package entire

import (
	"strings"
	"testing"
)

func TestLabel(t *testing.T) {
	for _, id := range []string{"s1", "", "2026-11-19-x y"} {
		if got := label(id); got != id {
			t.Errorf("%q: %q", id, got)
		}
	}
	seen := map[string]string{}
	for _, id := range []string{"ab", "a\x1bb", "a\nb", " ab", "x\ufffdy", "s1/tasks/x", strings.Repeat("x", 5000), strings.Repeat("x", 5001)} {
		got := label(id)
		if other, ok := seen[got]; ok || id != "ab" && len(got) != 32 {
			t.Errorf("%.20q: %q, as %.20q", id, got, other)
		}
		seen[got] = id
	}
}

func TestAgentName(t *testing.T) {
	for of, want := range map[string]string{"Claude Code": "claude-code", "claude-code": "claude-code", "Codex": "codex", "Codex CLI": "codex", "Pi": "pi",
		"Copilot CLI": "copilot-cli", "Gemini CLI": "gemini", "Unknown": "", "Factory AI Droid": "factory-ai-droid"} {
		if got := agentName(of); got != want {
			t.Errorf("%q: %q, want %q", of, got, want)
		}
	}
}
