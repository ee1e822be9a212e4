package record

import (
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// TestDrift: what is known to be another model is drift; what is unknown is none.
func TestDrift(t *testing.T) {
	of := func(backend, version, asked, reported string) Model {
		return ModelOf(eval.Identity{Backend: backend, Version: version, Model: asked}, reported)
	}
	sim := Model{Agent: "simulated", Asked: "demo", Simulated: true}
	for _, c := range []struct {
		name     string
		old, now Model
		want     bool
	}{
		{"the same", of("claude", "2.1.329", "sonnet", "sonnet-5"), of("claude", "2.1.329", "sonnet", "sonnet-5"), false},
		{"another model behind the same name", of("claude", "2.1.329", "sonnet", "sonnet-5"), of("claude", "2.1.329", "sonnet", "sonnet-6"), true},
		{"another name for the same model", of("claude", "2.1.329", "sonnet", "sonnet-5"), of("claude", "2.1.329", "best", "sonnet-5"), false},
		{"another name, and only one is reported", of("claude", "2.1.329", "sonnet", "sonnet-5"), of("claude", "2.1.329", "opus", ""), true},
		{"the reported name, asked for now", of("claude", "2.1.329", "", "sonnet-5"), of("claude", "2.1.329", "sonnet-5", ""), false},
		{"the agent's own model, never reported", of("claude", "2.1.329", "", ""), of("claude", "2.1.329", "", ""), false},
		{"reported once, unknown now", of("claude", "2.1.329", "", "sonnet-5"), of("claude", "2.1.329", "", ""), false},
		{"unknown then, known now", of("claude", "2.1.329", "", ""), of("claude", "2.1.329", "", "sonnet-5"), false},
		{"a patch of the agent", of("claude", "2.1.329", "sonnet", ""), of("claude", "2.1.330", "sonnet", ""), false},
		{"a release of the agent", of("claude", "2.1.329", "sonnet", ""), of("claude", "2.2.0", "sonnet", ""), true},
		{"another agent", of("claude", "2.1.329", "", ""), of("codex", "0.169.0", "", ""), true},
		{"nobody works tonight", of("claude", "2.1.329", "sonnet", ""), Model{}, false},
		{"no evidence", Model{}, of("claude", "2.1.329", "sonnet", ""), false},
		{"simulated after a real one", of("claude", "2.1.329", "sonnet", ""), sim, false},
		{"a real one after simulated", sim, of("claude", "2.1.329", "sonnet", ""), true},
	} {
		if got := c.now.DriftedFrom(c.old); got != c.want {
			t.Errorf("%s: %v after %v: drift %v, want %v", c.name, c.now, c.old, got, c.want)
		}
	}
}
