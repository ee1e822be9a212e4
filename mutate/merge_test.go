package mutate

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// TestMergeAddsNothing: a model that settles a merge may reword either text;
// a line like none of them is removed.
func TestMergeAddsNothing(t *testing.T) {
	doc := func(colour, more string) *skill.Document {
		d, err := skill.Parse([]byte("---\nname: s\ndescription: d\n---\n\n# S\n\n- Draw the chart that is asked for in "+colour+".\n"+more+
			"\n<!-- kernel -->\nKeep.\n<!-- /kernel -->\n\n## Rest\n\nText of the rest.\n"), skill.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	first, second := doc("blue", "- Name the source.\n"), doc("green", "- Write tags in lower case.\n")
	reply := strings.NewReplacer("in blue.", "in blue, else in green.", "- Name the source.\n", "- Name the source of all.\n- Tags: lower case.\n- Sing loudly every morning.\n\n## Tags\n").Replace(first.View())
	p, err := (&Merge{Model: &saying{text: "Done.\n```\n" + reply + "```\n"}}).Propose(t.Context(), Input{Parent: first, Other: second, Ancestor: doc("red", "")})
	if err != nil {
		t.Fatal(err)
	}
	view := p.Doc.View()
	for _, want := range []string{"else in green", "source of all", "Tags: lower case", "## Tags", "Text of the rest.", "KERNEL"} {
		if !strings.Contains(view, want) {
			t.Errorf("%q is lost:\n%s", want, view)
		}
	}
	if strings.Contains(view, "Sing") {
		t.Errorf("a line out of nowhere:\n%s", view)
	}
}
