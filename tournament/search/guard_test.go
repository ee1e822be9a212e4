package search

import (
	"fmt"
	"slices"
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

// Quoted are the cases of which a text has words, or a value, that neither its parent nor a
// train case has.
func TestQuoted(t *testing.T) {
	parent := textOf(t, "Label the axes of every chart, please.").Doc
	train := []eval.Case{{ID: "t", Prompt: "Use a log scale for the revenue of the year"}}
	hidden := []eval.Case{
		{ID: "words", Prompt: "Show the ferries of the northern islands by month"},
		{ID: "value", Prompt: "p", Checks: []eval.Check{{Type: eval.Contains, Value: "data.example.org"}}},
		{ID: "taught", Prompt: "use a log scale for the revenue"},
		{ID: "had", Prompt: "label the axes of every chart"},
		{ID: "other", Prompt: "Draw bread prices since the war began"},
	}
	child := textOf(t, "Label the axes of every chart, please. Use a log scale for the revenue. The ferries of the northern islands get a map, from data.example.org.").Doc
	var got []string
	for _, k := range Quoted(parent, child, train, hidden) {
		got = append(got, k.ID)
	}
	if want := []string{"words", "value"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if list := Quoted(parent, parent, train, hidden); len(list) > 0 {
		t.Errorf("%d cases are in the text itself", len(list))
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
