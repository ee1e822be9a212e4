// Package mutate proposes new harness texts for a skill: one operator a file,
// each with its prompt as an embedded text file. An operator sees train
// evidence only, and returns text; check.Check decides whether the text may
// be tried, and the tournament whether it is better.
package mutate

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// Evidence is one train case and how the parent did on it.
type Evidence struct {
	Case    *eval.Case
	Rollout *eval.Rollout
	// Only is the part of the feedback that the proposal is to answer; nil: all of it.
	Only []string
}

// An Attempt is an earlier proposal that did not help. It is shown to the
// next proposal of the same operator, so that it is not made again.
type Attempt struct {
	Operator string // that proposed it
	Change   string // what it changed, in short
	Result   string // what came of it
	// Refused: no case was run with it. Result says why, as far as the mutator
	// may know.
	Refused bool
}

// A Tally is a line of feedback and the train cases that got it, in these or
// similar words.
type Tally struct {
	Feedback string
	Cases    []string // ids
}

// Input is everything that an operator gets.
type Input struct {
	Parent   *skill.Document
	Evidence []Evidence // of the parent on train cases, failures first
	Rejected []Attempt  // newest last
	// Failing counts the feedback that the proposal is to answer over the train
	// cases that the parent fails and the round reflects on, the most frequent first.
	Failing []Tally
	// Passing is a train case that the parent does well; nil if there is none.
	Passing *Evidence
	// Asked is what checks of train cases ask for, for operators that delete.
	Asked []string
	// Corpus holds every feedback line that the run has seen on train cases:
	// it shows which words are specific to a lesson and which are common to
	// all.
	Corpus []string
	// Doubted are lines that another proposal of the run took out already, see
	// Proposal.Doubted: a second one may.
	Doubted []string
	// Other and Ancestor are the second parent of a merge and the youngest text
	// that both descend from; nil for the other operators.
	Other, Ancestor *skill.Document
	// MaxTokens bounds the body of the result, as skill.Tokens estimates it.
	MaxTokens int
	Seed      int64
}

// A Proposal is a new text.
type Proposal struct {
	Doc     *skill.Document
	Summary string   // what changed, one line
	Taught  []string // ids of the cases that the change answers
	// Supported: the change shares specific words with the feedback that it
	// was shown. false means nothing if feedback and skill are in different
	// languages, and much if other proposals of the run are supported.
	Supported bool
	// Doubted are lines of the parent that the model removed or reworded although
	// nothing that it was shown is about them. If the proposal is supported, they
	// were put back.
	Doubted []string
}

// An Operator makes one proposal. Its error is a *ReplyError if the model's
// reply cannot be used (counted, never adopted), *NotApplicableError if the
// operator has nothing to work on, else the Model's own. Operators are safe for
// concurrent use if their Model is.
type Operator interface {
	Name() string
	Propose(ctx context.Context, in Input) (Proposal, error)
}

// A ReplyError is a model's reply that was not adopted, with the reason.
type ReplyError struct {
	Reason string
	// Change summarises what the reply would have changed, if the next
	// attempt should know of it; else "".
	Change string
	// Nothing: the model found nothing to change that is asked for.
	Nothing bool
}

func (e *ReplyError) Error() string { return "unusable reply: " + e.Reason }

// A NotApplicableError means that an operator had nothing to do.
type NotApplicableError struct{ Reason string }

func (e *NotApplicableError) Error() string { return "not applicable: " + e.Reason }
