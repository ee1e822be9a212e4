package entire

import (
	"strings"
	"testing"
)

func FuzzEntry(f *testing.F) {
	f.Add([]byte("40000 0\x00"+strings.Repeat("i", 20)+"100644 a b\x00"+strings.Repeat("j", 20)), 20)
	f.Add([]byte("100644 x\x00short"), 32)
	f.Fuzz(func(t *testing.T, tree []byte, size int) {
		if size != 20 && size != 32 {
			t.Skip()
		}
		for len(tree) > 0 {
			mode, name, oid, rest, ok := entry(tree, size)
			if !ok {
				return
			}
			// mode, blank, name, NUL and id are all of it.
			if len(oid) != 2*size || name == "" || len(mode)+1+len(name)+1+size+len(rest) != len(tree) {
				t.Fatalf("%q %q %s of %q", mode, name, oid, tree)
			}
			tree = rest
		}
	})
}

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
