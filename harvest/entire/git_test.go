package entire

import (
	"strings"
	"testing"
)

func TestLabel(t *testing.T) {
	for id, want := range map[string]string{"s1": "s1", " a\x1b[0m\nb ": "a[0mb", "": "", "x\ufffdy": "xy"} {
		if got := label(id); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
	if got := label(strings.Repeat("x", 5000)); len(got) != 32 {
		t.Errorf("%d bytes of label", len(got))
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
