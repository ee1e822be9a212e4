package mutate

import (
	"context"
	"strings"

	"github.com/skill-evolve/evolve/eval"
)

// maxDescription is the length in runes that the open specification allows a
// description.
const maxDescription = 1024

// Description rewrites the frontmatter's description: the one text that an agent
// reads before it decides whether to load the skill. Its evidence is trigger
// cases, missed and mistaken loads alike. The parent must have been parsed with
// Options.EvolveDescription.
type Description struct{ Model eval.Model }

// Name implements Operator.
func (*Description) Name() string { return "description" }

// Propose implements Operator.
func (d *Description) Propose(ctx context.Context, in Input) (Proposal, error) {
	if len(in.Evidence) == 0 {
		return Proposal{}, &NotApplicableError{"no request to learn from"}
	}
	if _, _, ok := in.Parent.DescriptionSpan(); !ok {
		return Proposal{}, &NotApplicableError{"the description is kernel"}
	}
	data := newPromptData(in)
	was := in.Parent.Description()
	data.View, data.Fence, data.Words = withNewline(was), fenceFor(was), maxDescription
	user, err := render("description.txt", data)
	if err != nil {
		return Proposal{}, err
	}
	text, err := ask(ctx, d.Model, user, in)
	if err != nil {
		return Proposal{}, err
	}
	// YAML would keep line breaks, and agents show the description as one line.
	doc, err := in.Parent.WithDescription(strings.Join(strings.Fields(text), " "))
	if err != nil {
		return Proposal{}, &ReplyError{Reason: err.Error()}
	}
	if doc.Hash() == in.Parent.Hash() {
		return Proposal{}, &ReplyError{Reason: "nothing changed"}
	}
	change := "description: " + clip(doc.Description(), 160)
	if err := withoutSecrets(doc, change, in.Parent); err != nil {
		return Proposal{}, err
	}
	return Proposal{Doc: doc, Summary: change, Taught: caseIDs(in.Evidence), Supported: true}, nil
}
