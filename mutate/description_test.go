package mutate

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// saying is a model that gives one reply and keeps what it was asked.
type saying struct {
	text  string
	asked eval.Prompt
}

func (s *saying) Identity() eval.Identity { return eval.Identity{Backend: "scripted"} }

func (s *saying) Complete(_ context.Context, p eval.Prompt) (eval.Completion, error) {
	s.asked = p
	return eval.Completion{Text: s.text, Finish: "stop"}, nil
}

func TestDescription(t *testing.T) {
	const text = "---\nname: dataviz\ndescription: Makes charts.\nlicense: MIT\n---\n# Dataviz\n\n- Label the axes.\n"
	parent, err := skill.Parse([]byte(text), skill.Options{EvolveDescription: true})
	if err != nil {
		t.Fatal(err)
	}
	miss := Evidence{Case: &eval.Case{ID: "c1", Prompt: "Plot the weekly revenue"},
		Rollout: &eval.Rollout{Feedback: []string{"The skill was not loaded, and it should have been."}}}
	right := Evidence{Case: &eval.Case{ID: "c2", Prompt: "Make a slide"}, Rollout: &eval.Rollout{Quality: 1}}
	in := Input{Parent: parent, Evidence: []Evidence{miss, right}}

	m := &saying{text: "People say plot.\n```\nMakes charts: use it for plots,\ngraphs and \"axes\".\n```\n"}
	p, err := (&Description{Model: m}).Propose(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Doc.Description(); got != `Makes charts: use it for plots, graphs and "axes".` {
		t.Errorf("description = %q", got)
	}
	if string(p.Doc.Body()) != string(parent.Body()) || !strings.Contains(string(p.Doc.Render()), "license: MIT") || p.Doc.KernelHash() != parent.KernelHash() {
		t.Errorf("more than the description changed:\n%s", p.Doc.Render())
	}
	for _, want := range []string{"Makes charts.", "Request 1 (wrong; origin: user):\n> Plot the weekly revenue\nWhat was wrong (origin: grader):\n> The skill was not loaded", "Request 2 (right; origin: user):\n> Make a slide"} {
		if !strings.Contains(m.asked.User, want) {
			t.Errorf("the prompt lacks %q:\n%s", want, m.asked.User)
		}
	}

	for name, reply := range map[string]string{"the same": "x\n```\nMakes charts.\n```", "nothing": "I would not change it.", "blank": "```\n \n```"} {
		var unusable *ReplyError
		if _, err := (&Description{Model: &saying{text: reply}}).Propose(t.Context(), in); !errors.As(err, &unusable) {
			t.Errorf("%s: err = %v, want an unusable reply", name, err)
		}
	}
	kernel, err := skill.Parse([]byte(text), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var nothing *NotApplicableError
	if _, err := (&Description{Model: m}).Propose(t.Context(), Input{Parent: kernel, Evidence: in.Evidence}); !errors.As(err, &nothing) {
		t.Errorf("a description that is kernel: err = %v", err)
	}
}
