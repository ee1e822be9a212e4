package tournament

import (
	"fmt"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// The reason of a refusal is told to the mutator, so that it must be the same
// whenever the run is walked again.
func TestGuardGivesTheSameReason(t *testing.T) {
	parent := variant(t, "answer")
	var hidden []eval.Case
	body := "answer"
	for i := range 20 {
		value := fmt.Sprintf("SECRET-%04d", i)
		hidden = append(hidden, eval.Case{ID: fmt.Sprint("h", i), Prompt: "p", Checks: []eval.Check{{Type: eval.Contains, Value: value}}})
		body += " " + value
	}
	child := variant(t, body)
	want := "holds a value of the held-back case h0 that no train case teaches: «secret-0000»"
	for range 20 {
		if got := newGuard(parent.Doc, nil, hidden).refuse(parent.Doc, child.Doc); got != want {
			t.Fatalf("%s\nwant\n%s", got, want)
		}
	}
}
