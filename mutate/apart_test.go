package mutate

import (
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// A deletion that its owner has to decide on is put back, and the rest of the proposal needs
// no word of hers.
func TestApart(t *testing.T) {
	const head = "---\nname: charts\ndescription: Draws charts.\n---\n\n"
	parse := func(body string) *skill.Document {
		doc, err := skill.Parse([]byte(head+body), skill.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	parent := parse("- Label the axes.\n- Stop after the second chart.\n- Be brief.\n")
	held := func(d *skill.Document) bool { return !strings.Contains(d.View(), "Stop after") }
	p := Proposal{Doc: parse("- Label both axes.\n- Sort by value.\n"), Taught: []string{"a"}, Supported: true}
	rest, apart, ok := p.Apart(parent, held)
	if want := parse("- Label both axes.\n- Stop after the second chart.\n- Sort by value.\n"); !ok || rest.Doc.View() != want.View() || !rest.Supported || !slices.Equal(rest.Taught, p.Taught) {
		t.Errorf("the rest is %q, %v", rest.Doc.View(), ok)
	}
	if len(apart) != 1 || apart[0].Doc.View() != parse("- Label the axes.\n- Be brief.\n").View() {
		t.Errorf("apart are %d", len(apart))
	}
	only := Proposal{Doc: parse("- Label the axes.\n- Be brief.\n")}
	if _, apart, ok := only.Apart(parent, held); ok || len(apart) != 1 {
		t.Errorf("nothing is left of it: %v, %d apart", ok, len(apart))
	}
}
