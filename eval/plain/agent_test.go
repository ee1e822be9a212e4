package plain

import "testing"

func TestAgent(t *testing.T) {
	for name, want := range map[string]string{
		"claude": "Claude Code", "claude-code": "Claude Code", "copilot": "Copilot", "copilot-cli": "Copilot",
		"codex": "Codex", "pi": "pi", "": "", "my\x1b[31m agent": "my agent",
	} {
		if got := Agent(name); got != want {
			t.Errorf("Agent(%q) = %q, want %q", name, got, want)
		}
	}
}
