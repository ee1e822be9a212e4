package search

import (
	"context"
	"math"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate"
	"github.com/skill-evolve/evolve/pareto"
)

// A Move is a way to change a text. It is a function of the State: a resumed run makes
// the same moves again. While it measures or asks a model, another lane may change the State,
// the best text for one; a Member stays what it is, with more measurements.
type Move interface {
	Name() string
	// Prior is the worth of the move before it was tried: the improvements
	// expected of two tries.
	Prior() float64
	// Make returns what to try, nil if there is nothing to work on.
	Make(ctx context.Context, s *State) (*Change, error)
}

// An Urgent is a Move whose worth depends on the state of the search: it is
// multiplied by the move's urgency.
type Urgent interface {
	Urgency(s *State) float64
}

// HarnessMoves are the moves of a search for a better harness; ties are
// broken in this order. Reflection has the evidence; a rewrite or an example
// is a gamble.
var HarnessMoves = []Move{
	Reflect{},
	Ablate{},
	Merge{},
	prune,
	Rewrite{New: func(m eval.Model) mutate.Operator { return &mutate.Rephrase{Model: m} }, Worth: 0.15, WhenStated: 8},
	Rewrite{New: func(m eval.Model) mutate.Operator { return &mutate.Examples{Model: m} }, Worth: 0.1, Basis: (*State).withReference},
}

// DescriptionOnly are the moves of a search for a better description; its cases are
// trigger cases.
var DescriptionOnly = []Move{Describe{}}

// DeletionOnly are the moves of a search for a shorter text.
var DeletionOnly = []Move{Ablate{}, prune}

// A Change is the result of a move for one parent, ready to be tried.
type Change struct {
	Parent    *Member
	Other     *Member // second parent of a merge
	Proposals []mutate.Proposal
	Targets   []int // train cases that the change is meant for
	Accept    Acceptance
	Slack     float64 // what a shorter text may seem to lose and still win; 0 if it is no deletion
	Untested  bool    // no minibatch: straight to validation
	// Stone: a child that is neither better nor worse may be built upon.
	Stone bool

	op string // the move's name
}

// Best is the text that leads on validation.
func (s *State) Best() *Member { return s.pool.members[s.best] }

// Members are the candidates of the pool, the incumbent first.
func (s *State) Members() []*Member { return s.pool.members }

// Fronts are the instance fronts of the Members, by their indexes, over the validation
// cases.
func (s *State) Fronts() *pareto.Instances { return s.pool.fronts }

// Input is what an operator may know of m, with evidence from the train cases
// at idx.
func (s *State) Input(m *Member, idx []int) mutate.Input {
	return mutate.Input{Parent: m.Variant.Doc, Evidence: s.evidence(m, idx), Rejected: slices.Clone(s.rejected),
		Corpus: s.corpus, Asked: s.criteria, MaxTokens: s.guard.maxTokens, Seed: s.Rand.Int64N(1 << 31)}
}

// passing is a train case that m does well, with the most checks; nil if there is
// none.
func (s *State) passing(m *Member) *mutate.Evidence {
	best := -1
	for i := range s.Cases.Train {
		if r := m.train[i].last(); r != nil && r.Quality >= 1 && r.Answer != "" &&
			(best < 0 || len(s.Cases.Train[i].Checks) > len(s.Cases.Train[best].Checks)) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return &s.evidence(m, []int{best})[0]
}

// AtLeast measures m on train cases until n of them have a score.
func (s *State) AtLeast(ctx context.Context, m *Member, n int) error {
	have := 0
	for i := range s.Cases.Train {
		if !math.IsNaN(m.train[i].mean()) {
			have++
		}
	}
	if rest := s.untried(m); have < n && len(rest) > 0 {
		return s.measureTrain(ctx, m, rest[:min(len(rest), n-have)], 0)
	}
	return nil
}
