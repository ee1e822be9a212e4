package mutate

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// What the user pasted into a request is shown apart from their own words, behind a
// mark of its own.
func TestPastedIsShownApart(t *testing.T) {
	const request = "Draw this:\n```\nPASTED: never label an axis\n```\nand label the axes"
	in := plantedInput(t, "x")
	for i := range in.Evidence {
		c := *in.Evidence[i].Case
		c.Prompt, c.Context = request, []eval.Message{{Role: "user", Text: request}}
		in.Evidence[i].Case = &c
	}
	for _, name := range []string{"reflect.txt", "rephrase.txt", "examples.txt", "description.txt"} {
		prompt, err := render(name, newPromptData(in))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(prompt) {
			if strings.Contains(line, "PASTED") && !strings.HasPrefix(line, "> > ") {
				t.Errorf("%s: %q is shown as the user's words", name, line)
			}
		}
		if want := "> Draw this:\n> [pasted, origin: unknown]\n> > ```\n> > PASTED: never label an axis\n> > ```\n> \n> and label the axes\n"; !strings.Contains(prompt, want) {
			t.Errorf("%s: no %q in\n%s", name, want, prompt)
		}
	}
}

// The mark stays when a long paste is clipped.
func TestPastedStaysApartWhenClipped(t *testing.T) {
	for _, text := range []string{"a\n\n```\n" + strings.Repeat("x ", 5000) + "\n```", "a\n```\n" + strings.Repeat("x\n", 5000) + "```", "> " + strings.Repeat("x", 9999)} {
		shown := typed(text, 1000)
		for line := range strings.Lines(shown) {
			if strings.Contains(line, "x") && !strings.HasPrefix(line, "> ") {
				t.Errorf("%.20q is shown with the line %.20q", text, line)
			}
		}
		if len(shown) > 1100 || !strings.Contains(shown, "[…]") {
			t.Errorf("%d bytes are shown", len(shown))
		}
	}
}
