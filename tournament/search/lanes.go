package search

import (
	"context"
	"errors"
	"iter"

	"github.com/skill-evolve/evolve/eval"
)

// A lane makes one move after another. While it waits for rollouts or for a model, another
// lane goes on; only one at a time uses the State. Which one is next depends on what calls
// are assumed to take, and never on what they took: the order of all decisions is a function
// of the seed and of the recorded rollouts and replies, as it is with one lane.
type lane struct {
	next   func() (*errand, bool)
	yield  func(*errand) bool
	waits  *errand // nil: it makes no moves any more
	parent *Member // of its move
	led    bool    // a text of its move has taken the lead
	made   int64   // rollouts
}

// An errand is what a lane waits for.
type errand struct {
	due  int // in assumed time
	done chan struct{}
	err  error
}

// Assumed time is counted in batches of rollouts. A model that writes a text takes longer
// than one batch.
const (
	batchSize = 16
	asking    = 6
)

// lanes are the lanes of a search that has several. The zero value is a search with one,
// which waits for every call.
type lanes struct {
	all    []*lane
	now    int
	flying map[*attempts]int // when rollouts that are underway are due
	asked  int64             // rollouts of the budget, those that are underway included
	landed int64             // those of them that have ended
	most   int64             // asked at most; 0 is no cap, -1 none
	ending error             // why the first lane ended
}

// errGivenUp ends a lane if another one has failed.
var errGivenUp = errors.New("another move has failed")

// together makes moves in n lanes until one of them ends and the others have finished their
// moves, and returns the error of the first. If that is no *errDone, what is underway ends,
// and the moves are left where they are.
func (s *State) together(ctx context.Context, n int) error {
	spent, rest := s.Evaluator.Budget.Spent().Rollouts, s.rest()
	t := &s.lanes
	*t = lanes{flying: map[*attempts]int{}, asked: spent, landed: spent, most: rest}
	if rest > 0 {
		t.most = spent + rest
	}
	only := s.lane
	defer func() { s.lane, s.lanes = only, lanes{} }()
	for range n {
		l := &lane{}
		next, stop := iter.Pull(func(yield func(*errand) bool) {
			l.yield = yield
			if err := s.moves(ctx); t.ending == nil {
				t.ending = err
			}
		})
		defer stop()
		l.next = next
		t.all = append(t.all, l)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, l := range t.all {
		if t.ending == nil {
			s.resume(l)
		}
	}
	for l := t.soonest(); l != nil; l = t.soonest() {
		var done *errDone
		failed := t.ending != nil && !errors.As(t.ending, &done)
		if failed && !eval.IsPending(t.ending) { // else a person gets the requests of all lanes
			cancel()
		}
		<-l.waits.done
		if failed {
			l.waits = nil
			continue
		}
		t.now = l.waits.due
		s.resume(l)
	}
	return t.ending
}

// soonest is the waiting lane whose errand is due first, nil if none waits.
func (t *lanes) soonest() (first *lane) {
	for _, l := range t.all {
		if l.waits != nil && (first == nil || l.waits.due < first.waits.due) {
			first = l
		}
	}
	return first
}

// resume lets a lane use the State until it waits again.
func (s *State) resume(l *lane) {
	s.lane = l
	l.waits, _ = l.next()
}

// wait calls f, which must not use the State, while other lanes go on. The error is f's.
func (s *State) wait(takes int, f func() error) error {
	if s.lane.yield == nil {
		return f()
	}
	e := &errand{due: s.lanes.now + takes, done: make(chan struct{})}
	go func() {
		defer close(e.done)
		e.err = eval.Shielded(f)
	}()
	if !s.lane.yield(e) {
		<-e.done
		return errGivenUp
	}
	return e.err
}

// A waiting model is called by a lane.
type waiting struct {
	eval.Model
	s *State
}

// Complete calls the model while other lanes go on.
func (w waiting) Complete(ctx context.Context, p eval.Prompt) (c eval.Completion, err error) {
	err = w.s.wait(asking, func() (err error) {
		c, err = w.Model.Complete(ctx, p)
		return err
	})
	return c, err
}

// run makes rollouts, which are added to at, while other lanes go on.
func (s *State) run(ctx context.Context, jobs []eval.Job, at []*attempts) (rollouts []*eval.Rollout, err error) {
	t := &s.lanes
	takes := (len(jobs) + batchSize - 1) / batchSize
	if t.all != nil {
		n, err := s.charged(ctx, jobs)
		if err != nil {
			return nil, err
		}
		for _, a := range at {
			t.flying[a] = t.now + takes
		}
		t.asked += n
		l := s.lane
		defer func() {
			for _, a := range at {
				delete(t.flying, a)
			}
			t.landed += n
			l.made += n
		}()
	}
	err = s.wait(takes, func() (err error) {
		rollouts, err = s.Evaluator.Run(ctx, jobs)
		return err
	})
	return rollouts, err
}

// charged counts the jobs that the budget is charged for: rollouts of earlier runs are free.
func (s *State) charged(ctx context.Context, jobs []eval.Job) (n int64, err error) {
	if s.Evaluator.Recorder == nil {
		return int64(len(jobs)), nil
	}
	for _, j := range jobs {
		r, fresh, err := s.Evaluator.Recorder.Rollout(ctx, s.Evaluator.Key(j))
		if err != nil {
			return 0, err
		}
		if r == nil || fresh {
			n++
		}
	}
	return n, nil
}

// landing waits for rollouts that are underway in another lane, which is resumed first.
func (s *State) landing(a *attempts) error {
	return s.wait(s.lanes.flying[a]+1-s.lanes.now, func() error { return nil })
}

// rest is how many rollouts may still be made: 0 for no cap, -1 for none.
func (s *State) rest() int64 {
	t := &s.lanes
	switch {
	case t.all == nil:
		return s.Evaluator.Budget.Remaining().Rollouts
	case t.most > 0 && t.asked < t.most:
		return t.most - t.asked
	case t.most == 0:
		return 0
	}
	return -1
}

// spent is how many rollouts have been made: by the lane, if there are several.
func (s *State) spent() int64 {
	if s.lanes.all == nil {
		return s.Evaluator.Budget.Spent().Rollouts
	}
	return s.lane.made
}

// elsewhere reports whether another lane works on m.
func (s *State) elsewhere(m *Member) bool {
	for _, l := range s.lanes.all {
		if l != s.lane && l.parent == m {
			return true
		}
	}
	return false
}
