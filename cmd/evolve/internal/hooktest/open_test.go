package hooktest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/harvest/redact"
)

// A case whose decision is misspelled would ask for the contrary, and one of another event for what
// the hook never sees: both are left out. What a model is shown of the others is redacted.
func TestOwn(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, "cases"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "cases", name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := `"event": {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "use the-password"}}}`
	put("stop", `{"decision": "block", `+call)
	put("go", `{"decision": "go", `+call)
	put("spelled", `{"decision": "BLOCK", `+call)
	put("null", `{"decision": "block", "event": null}`)
	put("other", `{"decision": "block", "event": {"hook_event_name": "Stop"}}`)
	put("none", `{`)
	h := &Hook{Path: filepath.Join(dir, "x.sh"), Events: []string{"PreToolUse"}, parts: Parts{Redactor: func() redact.Redactor { return redact.Known("the-password") }}}
	cases, left := h.own()
	if want := []string{"none", "null", "other", "spelled"}; !slices.Equal(left, want) {
		t.Errorf("%q are left out, want %q", left, want)
	}
	if len(cases) != 2 || cases[0].Events[0].Label != guard.Go || cases[1].Events[0].Label != guard.Stop {
		t.Fatalf("%+v", cases)
	}
	if in := cases[1].Events[0].Shown.Input; strings.Contains(in, "the-password") || !strings.Contains(in, "[redacted:") {
		t.Error(in)
	}
}
