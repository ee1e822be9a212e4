package search

import (
	"fmt"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// The mutator reads the reason of a refusal, so it must be the same when the
// run is repeated.
func TestGuardGivesTheSameReason(t *testing.T) {
	parent := textOf(t, "answer")
	var hidden []eval.Case
	body := "answer"
	for i := range 20 {
		value := fmt.Sprintf("SECRET-%04d", i)
		hidden = append(hidden, eval.Case{ID: fmt.Sprint("h", i), Prompt: "p", Checks: []eval.Check{{Type: eval.Contains, Value: value}}})
		body += " " + value
	}
	child := textOf(t, body)
	want := "holds a value of the held-back case h0 that no train case teaches: «secret-0000»"
	for range 20 {
		if got := newGuard(parent.Doc, nil, hidden).refuse(parent.Doc, child.Doc); got != want {
			t.Fatalf("%s\nwant\n%s", got, want)
		}
	}
}

func textOf(t testing.TB, body string) eval.Variant {
	t.Helper()
	doc, err := skill.Parse([]byte("---\nname: s\ndescription: d\n---\n"+body+"\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return eval.Variant{Name: "s", Doc: doc}
}
