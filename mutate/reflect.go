package mutate

import (
	"context"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// Reflect is GEPA's reflective mutation (arXiv 2507.19457, section 3): the
// model reads failures with their feedback and rewrites the text. Parts of
// the rewrite that answer none of the feedback are undone, see Support.
type Reflect struct {
	Model eval.Model
	// Plain adopts the reply as it is, as the reference GEPA does.
	Plain bool
}

// Name implements Operator.
func (*Reflect) Name() string { return "reflect" }

// Propose implements Operator.
func (r *Reflect) Propose(ctx context.Context, in Input) (Proposal, error) {
	if len(in.Evidence) == 0 {
		return Proposal{}, &NotApplicableError{"no failure to learn from"}
	}
	view, err := rewrite(ctx, r.Model, "reflect.txt", in)
	if err != nil {
		return Proposal{}, err
	}
	if r.Plain {
		return propose(in.Parent, view, caseIDs(in.Evidence))
	}
	parent := in.Parent.View()
	shown, owner := shownFeedback(in.Evidence)
	for _, t := range in.Failing {
		for _, id := range t.Cases {
			shown, owner = append(shown, t.Feedback), append(owner, id)
		}
	}
	support := NewSupport(shown, in.Corpus)
	filtered, answers, doubted, kept := support.Filter(parent, view, in.Doubted)
	var taught []string
	if kept {
		view = filtered
		for _, i := range answers {
			taught = append(taught, owner[i])
		}
	} else {
		taught = caseIDs(in.Evidence)
	}
	p, err := propose(in.Parent, view, unique(taught))
	p.Supported, p.Doubted = kept, doubted
	return p, err
}

// shownFeedback lists the feedback lines of the evidence, and the case of
// each.
func shownFeedback(ev []Evidence) (lines, owner []string) {
	for _, e := range ev {
		fb := e.feedback()
		if len(fb) == 0 {
			fb = []string{e.Case.Prompt}
		}
		for _, f := range fb {
			lines, owner = append(lines, f), append(owner, e.Case.ID)
		}
	}
	return lines, owner
}

// rewrite asks the model for a whole new view.
func rewrite(ctx context.Context, m eval.Model, prompt string, in Input) (string, error) {
	user, err := render(prompt, newPromptData(in))
	if err != nil {
		return "", err
	}
	view, err := ask(ctx, m, user, in)
	if err != nil {
		return "", err
	}
	if in.Other != nil {
		return restore(view, in.Parent.View(), in.Other.View()), nil
	}
	return restore(view, in.Parent.View()), nil
}

// ask sends a rendered prompt and returns the one fenced block of the reply.
func ask(ctx context.Context, m eval.Model, user string, in Input) (string, error) {
	system, err := render("system.txt", promptData{Standing: in.Parent.Options().Instructions})
	if err != nil {
		return "", err
	}
	c, err := m.Complete(ctx, eval.Prompt{System: strings.TrimSpace(system), User: user, MaxTokens: replyTokens(in), Seed: in.Seed})
	if err != nil {
		return "", fmt.Errorf("ask the mutator: %w", err)
	}
	return fencedBlock(c)
}

// replyTokens leaves room for the text at its limit, a sentence, and the
// reasoning that some models count as output.
func replyTokens(in Input) int {
	if in.MaxTokens <= 0 {
		return 0
	}
	return 2*in.MaxTokens + 4000
}

// propose turns a view into a Proposal on the parent's kernel. others are
// further texts that the view may quote.
func propose(parent *skill.Document, view string, taught []string, others ...*skill.Document) (Proposal, error) {
	doc, err := parent.WithView(view)
	if err != nil {
		return Proposal{}, &ReplyError{Reason: err.Error()}
	}
	if doc.Hash() == parent.Hash() {
		return Proposal{}, &ReplyError{Reason: "nothing changed"}
	}
	p := Proposal{Doc: doc, Summary: summarise(parent.View(), doc.View()), Taught: taught}
	if err := withoutSecrets(doc, p.Summary, append(others, parent)...); err != nil {
		return Proposal{}, err
	}
	return p, nil
}
