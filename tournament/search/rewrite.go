package search

import (
	"context"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/mutate"
)

// A Rewrite is the Move of an operator that works on the whole of the best text.
type Rewrite struct {
	New   func(eval.Model) mutate.Operator
	Worth float64 // see Move.Prior
	// WhenStated is the urgency once the best text already states most of
	// what it still fails: then rewording helps and repeating does not. 0
	// means the same urgency as otherwise.
	WhenStated float64
	Deletes    bool // the text only lacks lines
	// Basis chooses the train cases that the operator is shown; nil:
	// failures.
	Basis func(s *State, m *Member) []int
}

var prune = Rewrite{New: func(m eval.Model) mutate.Operator { return &mutate.Prune{Model: m} }, Worth: 0.1, Deletes: true}

// Name implements Move.
func (r Rewrite) Name() string { return r.New(nil).Name() }

// Prior implements Move.
func (r Rewrite) Prior() float64 { return r.Worth }

// Urgency implements Urgent: while reflections succeed, a rewrite of the
// whole is a gamble.
func (r Rewrite) Urgency(s *State) float64 {
	switch {
	case s.stated && r.WhenStated > 0:
		return r.WhenStated
	case s.stale == 0:
		return 0.1
	}
	return 1
}

// maxRewrites is how often an operator may rewrite the same text.
const maxRewrites = 3

// Make implements Move.
func (r Rewrite) Make(ctx context.Context, s *State) (*Change, error) {
	m := s.Best()
	for try := range maxRewrites + 1 {
		if try == maxRewrites {
			return nil, nil
		}
		if key := fmt.Sprint(r.Name(), try); !m.tried[key] {
			m.tried[key] = true
			break
		}
	}
	mv := &Change{Parent: m, Accept: s.opt.Accept}
	if r.Deletes {
		mv.Accept, mv.Slack = NotWorse{Slack: 0.02}, deletionSlack
	}
	if err := s.AtLeast(ctx, m, s.opt.Minibatch); err != nil {
		return nil, err
	}
	var err error
	if mv.Targets, err = s.Known(ctx, m); err != nil {
		return nil, err
	}
	idx := mv.Targets[:min(len(mv.Targets), s.opt.Group)]
	if r.Basis != nil {
		idx = r.Basis(s, m)
	}
	mv.Proposals, err = s.Ask(ctx, r.New(s.Mutator), m, []mutate.Input{s.Input(m, idx)})
	if err != nil || len(mv.Proposals) == 0 && len(idx) == 0 {
		return nil, err
	}
	return mv, nil
}

// withReference are the train cases that have both an answer that their owner
// has accepted and one of m.
func (s *State) withReference(m *Member) (idx []int) {
	for i := range s.Cases.Train {
		if strings.TrimSpace(s.Cases.Train[i].Reference) != "" && m.train[i].last() != nil {
			idx = append(idx, i)
		}
	}
	return idx
}

// mostStated reports whether the best text states most of what it still
// fails.
func (s *State) mostStated() bool {
	m := s.Best()
	stated, lines := 0, 0
	for i := range s.Cases.Train {
		r := persistent(&m.train[i])
		if r == nil {
			continue
		}
		fb := mutate.FeedbackOf(r)
		support := mutate.NewSupport(fb, s.asked)
		for k := range fb {
			lines++
			if support.Stated(k, m.Variant.Doc.View()) {
				stated++
			}
		}
	}
	return lines > 0 && 2*stated >= lines
}
