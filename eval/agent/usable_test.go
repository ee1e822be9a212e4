package agent

import (
	"slices"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/workspace"
)

// Cases with a check of the work are left out for an agent whose work nobody records, with one
// note, and are tried with one whose work evolve records.
func TestUsableByRecordedWork(t *testing.T) {
	was := kinds
	t.Cleanup(func() { kinds = was })
	Register(&Kind{Name: "seen", UsesTools: true, Records: true}, &Kind{Name: "unseen", UsesTools: true}, &Kind{Name: "talks"}, &Kind{Name: "made-up", Simulated: true})
	cases := []eval.Case{
		{ID: "answer", Checks: []eval.Check{{Type: eval.Contains, Value: "x"}}},
		{ID: "ran", Checks: []eval.Check{{Type: eval.Contains, Value: "x"}, {Type: eval.Ran, Value: "x"}}},
		{ID: "added", Checks: []eval.Check{{Type: eval.NotAdded, Value: "x"}}},
	}
	const note = "2 cases left out: their checks are of what the agent does, and evolve does not see what "
	for name, want := range map[string][]string{"seen": nil, "made-up": nil, "unseen": {note + "unseen does"}, "talks": {note + "talks does"}} {
		b := new(Backends)
		if UsesTools(name) {
			b.Spaces = new(workspace.Recorded)
		}
		kept, notes, err := b.Usable(t.Context(), &Spec{Agent: name, Sandbox: SandboxNone}, cases)
		if n := 3 - 2*len(want); err != nil || len(kept) != n || !slices.Equal(notes, want) {
			t.Errorf("%s: %d cases kept, %q, %v", name, len(kept), notes, err)
		}
	}
}
