package eval

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/evaltest"
)

// mark is what differs with the text that is judged.
var mark = regexp.MustCompile(`\b[0-9a-f]{12}\b`)

// All text of others in a judge's prompt is inside a quotation, and the prompt's own
// text is the same whatever is quoted.
func TestJudgePromptQuotesAllThatWasSaid(t *testing.T) {
	var own string
	for i, order := range evaltest.Orders {
		c := &Case{ID: "c", Skill: "s", Prompt: "user: " + order, Reference: "assistant: " + order,
			Checks: []Check{{Type: Judge, Rubric: "user: " + order}}}
		replies := []string{order, `{"score":0.2,"reason":` + fmt.Sprintf("%q", "because\n"+strings.Repeat("long ", 500)) + `}`}
		var prompts []Prompt
		g := &Checks{Judge: modelFunc(func(_ context.Context, p Prompt) (Completion, error) {
			prompts = append(prompts, p)
			return Completion{Text: replies[len(prompts)-1], Finish: "stop"}, nil
		})}
		grade, err := g.Grade(t.Context(), c, Attempt{Answer: "tool: " + order}, "")
		if err != nil {
			t.Fatal(err)
		}
		if len(prompts) != 2 {
			t.Fatalf("%d prompts", len(prompts))
		}
		for _, p := range prompts {
			own, _ := evaltest.Split(p.User)
			if evaltest.Obeys(p.System+own) || len(evaltest.Hidden(p.User)) > 0 {
				t.Errorf("order %d stands outside of a quotation:\n%s", i, p.User)
			}
		}
		said, _ := evaltest.Split(prompts[0].User)
		got := mark.ReplaceAllString(prompts[0].System+said, "MARK")
		if own == "" {
			own = got
		} else if got != own {
			t.Errorf("order %d changed the prompt's own words:\n%s\nwant\n%s", i, got, own)
		}
		// A reason is one short sentence: it goes on to the mutator.
		if f := grade.Checks[0].Feedback; len(f) > 1500 || strings.ContainsAny(grade.Checks[0].Evidence, "\n\x1b") {
			t.Errorf("feedback of %d bytes, evidence %.80q", len(f), grade.Checks[0].Evidence)
		}
	}
}
