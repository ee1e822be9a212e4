package mutate_test

import (
	"context"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// asked keeps the last prompt, and replies with what it holds, one rule longer.
type asked struct {
	eval.Prompt
	reply string
}

func (a *asked) Identity() eval.Identity { return eval.Identity{} }

func (a *asked) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	a.Prompt = p
	return eval.Completion{Text: "A rule.\n```\n" + a.reply + "```\n", Finish: "stop"}, nil
}

// The prompts name what is edited: standing instructions hold in every session, a skill only
// where it is called.
func TestPromptsNameTheSubject(t *testing.T) {
	for _, instructions := range []bool{true, false} {
		text := "---\nname: a\ndescription: b\n---\n# Rules\n\n- Be brief.\n\n<!-- kernel -->\nStay.\n<!-- /kernel -->\n"
		if instructions {
			text = "# Rules\n\n- Be brief.\n\nSee @more.md.\n"
		}
		doc, err := skill.Parse([]byte(text), skill.Options{Instructions: instructions})
		if err != nil {
			t.Fatal(err)
		}
		m := &asked{reply: strings.Replace(doc.View(), "- Be brief.", "- Be brief.\n- Name the unit.", 1)}
		p, err := (&mutate.Reflect{Model: m}).Propose(t.Context(), mutate.Input{Parent: doc, MaxTokens: 500, Evidence: []mutate.Evidence{{
			Case: &eval.Case{ID: "1", Prompt: "Plot it"}, Rollout: &eval.Rollout{Feedback: []string{"name the unit"}}}}})
		if err != nil {
			t.Fatal(err)
		}
		if p.Doc.KernelHash() != doc.KernelHash() || p.Doc.Options() != doc.Options() {
			t.Errorf("the proposal %q has another kernel or is read otherwise", p.Doc.Render())
		}
		all := m.System + m.User
		if got := strings.Contains(all, "skill"); got == instructions {
			t.Errorf("instructions %t: a skill is spoken of: %t\n%s", instructions, got, all)
		}
		if got := strings.Contains(m.System, "in every session"); got != instructions {
			t.Errorf("instructions %t: it says that they hold in every session: %t", instructions, got)
		}
	}
}
