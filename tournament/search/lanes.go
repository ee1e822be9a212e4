package search

import (
	"context"
	"errors"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/search/lanes"
)

// A lane is one of the moves that are made at once.
type lane struct {
	parent *Member
	led    bool  // a text of the move has taken the lead
	made   int64 // rollouts of this and earlier moves
}

// Assumed time is counted in batches of rollouts. A model that writes a text takes longer
// than one batch.
const (
	batchSize = 16
	asking    = 6
)

// lane is the one whose turn it is.
func (s *State) lane() *lane { return &s.all[s.turns.Current()] }

// move makes moves in as many lanes as the search has.
func (s *State) move(ctx context.Context) error {
	n := s.opt.Lanes
	s.all = make([]lane, n)
	if n == 1 {
		return s.moves(ctx)
	}
	s.ledger, s.flying = lanes.NewLedger(s.spent(), s.rest()), map[*attempts]int{}
	return s.turns.Run(ctx, n, s.moves, func(err error) bool { var done *errDone; return errors.As(err, &done) })
}

// asks is the model as a lane asks it.
func (s *State) asks(m eval.Model) eval.Model {
	return lanes.Model{Model: m, Lanes: &s.turns, Takes: asking}
}

// run makes rollouts, which are added to at, while other lanes go on.
func (s *State) run(ctx context.Context, jobs []eval.Job, at []*attempts) (rollouts []*eval.Rollout, err error) {
	takes := (len(jobs) + batchSize - 1) / batchSize
	if s.turns.Several() {
		n, err := s.ledger.Ask(ctx, s.Evaluator, jobs)
		if err != nil {
			return nil, err
		}
		for _, a := range at {
			s.flying[a] = s.turns.Now() + takes
		}
		defer func() {
			for _, a := range at {
				delete(s.flying, a)
			}
			s.ledger.Landed += n
			s.lane().made += n
		}()
	}
	err = s.turns.Wait(takes, func() (err error) {
		rollouts, err = s.Evaluator.Run(ctx, jobs)
		return err
	})
	return rollouts, err
}

// rest is how many rollouts may still be made: 0 for no cap, -1 for none.
func (s *State) rest() int64 {
	if s.turns.Several() {
		return s.ledger.Rest()
	}
	return s.Evaluator.Budget.Remaining().Rollouts
}

// spent is how many rollouts have ended, by the lane's moves alone if there are several.
func (s *State) spent() int64 {
	if s.turns.Several() {
		return s.lane().made
	}
	return s.Evaluator.Budget.Spent().Rollouts
}

// elsewhere reports whether another lane works on m.
func (s *State) elsewhere(m *Member) bool {
	for i := range s.all {
		if i != s.turns.Current() && s.all[i].parent == m {
			return true
		}
	}
	return false
}
