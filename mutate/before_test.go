package mutate

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// TestPromptShowsWhatARequestFollows: a request like "1" means nothing
// without the turns before it. Only the last ones are shown, short, and no
// tool's.
func TestPromptShowsWhatARequestFollows(t *testing.T) {
	in := plantedInput(t, "fine")
	in.Evidence = in.Evidence[:1]
	c := *in.Evidence[0].Case
	in.Evidence[0].Case = &c
	long := "Linear or " + strings.Repeat("very ", 200) + "logarithmic?"
	c.Prompt, c.Context = "2", []eval.Message{{Role: "user", Text: "an old request"}, {Role: "user", Text: "Plot the revenue."},
		{Role: "tool", Text: said}, {Role: "assistant", Text: long}}
	o := &obedient{t: t}
	for _, op := range []Operator{&Reflect{Model: o}, &Rephrase{Model: o}} {
		if _, err := op.Propose(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		got := o.prompts[len(o.prompts)-1].User
		want := "Request 1 (score 0.50; origin: user):\n> 2\nBefore it (origin: user):\n> Plot the revenue.\nBefore it (origin: assistant):\n> Linear or very "
		if !strings.Contains(got, want) || !strings.Contains(got, "very logarithmic?\n") {
			t.Errorf("%s does not show what the request follows:\n%s", op.Name(), got)
		}
		if strings.Contains(got, "old request") || strings.Contains(got, said) || strings.Contains(got, long) {
			t.Errorf("%s shows too much:\n%s", op.Name(), got)
		}
	}
}
