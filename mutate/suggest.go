package mutate

import (
	"context"
	"slices"
	"sort"

	"github.com/skill-evolve/evolve/eval"
)

// A Correction is what the user said of the answer to a request.
type Correction struct {
	Case  *eval.Case
	Words string // the user's own
	// Rule is the general rule that a model read in them, "" if none did.
	Rule string
}

// Suggest writes what the user's corrections teach into the text, without a rollout.
// Parts of the reply that answer none of them are undone, see Support.
type Suggest struct {
	Model       eval.Model
	Corrections []Correction
}

// How much a prompt shows of a corrected request, and of the user's words, in bytes.
const (
	maxAskedQuote = 400
	maxSaidQuote  = 600
)

// promptSaid is a Correction as a prompt shows it.
type promptSaid struct {
	N                   int
	Prompt, Words, Rule string
}

// Name implements Operator.
func (*Suggest) Name() string { return "suggest" }

// Propose returns the suggestion. Of in only Parent, MaxTokens and Seed are used. Errors are
// those of an Operator.
func (s *Suggest) Propose(ctx context.Context, in Input) (Proposal, error) {
	in.Evidence, in.Rejected = nil, nil
	if len(s.Corrections) == 0 {
		return Proposal{}, &NotApplicableError{"nothing was corrected"}
	}
	data := newPromptData(in)
	for i, c := range s.Corrections {
		data.Said = append(data.Said, promptSaid{i + 1, typed(c.Case.Prompt, maxAskedQuote), typed(c.Words, maxSaidQuote), c.Rule})
	}
	user, err := render("suggest.txt", data)
	if err != nil {
		return Proposal{}, err
	}
	view, err := ask(ctx, s.Model, user, in)
	if err != nil {
		return Proposal{}, err
	}
	parent := in.Parent.View()
	view, answers, _, kept := s.support().Filter(parent, restore(view, parent), nil)
	if !kept {
		return Proposal{}, &ReplyError{Reason: "no change of it answers what was said", Nothing: true}
	}
	var taught []string
	for _, i := range answers {
		taught = append(taught, s.Corrections[i].Case.ID)
	}
	p, err := propose(in.Parent, view, unique(taught))
	p.Supported = true
	return p, err
}

// Answers returns the indexes of the corrections that a sentence answers, the best match
// first.
func (s *Suggest) Answers(sentence string) []int {
	hits := s.support().Answers(sentence)
	like := func(i int) float64 { return Similarity(sentence, s.Corrections[i].Words+"\n"+s.Corrections[i].Rule) }
	sort.SliceStable(hits, func(i, j int) bool { return like(hits[i]) > like(hits[j]) })
	// One common word is weak evidence if another correction has all of them.
	return slices.DeleteFunc(hits, func(i int) bool { return 2*like(i) < like(hits[0]) })
}

// support takes each word of a correction as specific that is not in many of the requests,
// as what all of them are about is: a word that many corrections share is what was said
// most often.
func (s *Suggest) support() *Support {
	var asked []string
	for _, c := range s.Corrections {
		asked = append(asked, c.Case.Prompt)
	}
	out := NewSupport(asked, nil)
	out.lines = nil
	for _, c := range s.Corrections {
		out.lines = append(out.lines, words(c.Words+"\n"+c.Rule))
	}
	return out
}
