package mutate

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
)

// The owner's words are what they said and what their own checks ask for: nothing that was
// pasted, that a model or another tool wrote, or that a check forbids.
func TestOwnersWords(t *testing.T) {
	one := func(c eval.Check) []eval.Check { return []eval.Check{c} }
	for name, x := range map[string]struct {
		c    eval.Case
		want string
	}{
		"said":         {eval.Case{Source: &eval.Source{Origin: "mined", Agent: "claude"}, Checks: one(eval.Check{Rubric: "a model's", Feedback: eval.Saying("missing", "no, with curl")})}, "no, with curl"},
		"pasted":       {eval.Case{Source: &eval.Source{Origin: "mined"}, Checks: one(eval.Check{Feedback: eval.Saying("", "no, wrong:\n```\nwith curl\n```")})}, "no, wrong:"},
		"own check":    {eval.Case{Checks: one(eval.Check{Type: eval.Judge, Rubric: "It calls curl.", Feedback: "with curl"})}, "with curl\n\nIt calls curl."},
		"forbidden":    {eval.Case{Checks: one(eval.Check{Type: eval.NotContains, Feedback: "calls curl"})}, ""},
		"made up":      {eval.Case{Source: &eval.Source{Origin: "generated"}, Checks: one(eval.Check{Feedback: "with curl"})}, ""},
		"another tool": {eval.Case{Source: &eval.Source{Origin: "imported", Agent: "skill-creator"}, Checks: one(eval.Check{Feedback: "with curl"})}, ""},
	} {
		if got := strings.TrimSpace(OwnersWords([]eval.Case{x.c})); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}
