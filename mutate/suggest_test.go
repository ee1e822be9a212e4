package mutate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// rewriter replies with a text.
type rewriter string

func (rewriter) Identity() eval.Identity { return eval.Identity{Backend: "rewriter"} }

func (r rewriter) Complete(context.Context, eval.Prompt) (eval.Completion, error) {
	return eval.Completion{Text: "Done.\n```\n" + string(r) + "```\n", Finish: "stop"}, nil
}

// TestSuggest: what nearly all corrections say is kept, with all that said it; what answers
// none of them is undone, also if it is about what every request is about.
func TestSuggest(t *testing.T) {
	const text = "---\nname: charts\ndescription: Draws charts.\n---\n\n# Charts\n\n- Read the file first.\n"
	doc, err := skill.Parse([]byte(text), skill.OptionsOf("charts"))
	if err != nil {
		t.Fatal(err)
	}
	var said []Correction
	for i := range 9 {
		c := Correction{Case: &eval.Case{ID: fmt.Sprint("c", i), Prompt: fmt.Sprintf("Draw a chart of table %d", i)}, Words: fmt.Sprintf("no, use a log scale, as I said on day %d", i)}
		if i == 8 {
			c.Words = "no pie, never"
		}
		said = append(said, c)
	}
	view := doc.View()
	reply := view + "- Use a log scale for what grows by factors.\n- Charts have a long history.\n- Never draw a pie.\n"
	s := &Suggest{Model: rewriter(reply), Corrections: said}
	p, err := s.Propose(t.Context(), Input{Parent: doc, MaxTokens: 500})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(p.Doc.Render()); !strings.Contains(got, "log scale") || !strings.Contains(got, "pie") || strings.Contains(got, "history") {
		t.Errorf("the suggestion is\n%s", got)
	}
	if len(p.Taught) != 9 {
		t.Errorf("taught by %v", p.Taught)
	}
	if got := s.Answers("Use a log scale for what grows by factors."); len(got) != 8 || slices.Contains(got, 8) {
		t.Errorf("the scale answers %v", got)
	}
	if got := s.Answers("Never draw a pie."); !slices.Equal(got, []int{8}) {
		t.Errorf("the pie answers %v", got)
	}

	var unusable *ReplyError
	s.Model = rewriter(view + "- Charts have a long history.\n")
	if _, err := s.Propose(t.Context(), Input{Parent: doc}); !errors.As(err, &unusable) || !unusable.Nothing {
		t.Errorf("what nobody said is suggested: %v", err)
	}
	var nothing *NotApplicableError
	if _, err := (&Suggest{}).Propose(t.Context(), Input{Parent: doc}); !errors.As(err, &nothing) {
		t.Errorf("nothing was corrected: %v", err)
	}
}
