// Package lanes runs several walks by turns, in an order that does not depend on timing.
package lanes

import (
	"context"
	"errors"
	"iter"

	"github.com/skill-evolve/evolve/eval"
)

// Lanes are walks of which one at a time goes on, while the others wait for calls. Which one
// is next depends on what the calls are assumed to take, and never on what they took: walks
// that are functions of what they read are so together. The zero value has one lane, which
// waits for every call.
type Lanes struct {
	all     []*lane
	current int
	now     int
	ending  error // of the walk that ended first
}

type lane struct {
	next  func() (*call, bool)
	yield func(*call) bool
	waits *call // nil: its walk has ended
}

type call struct {
	due  int // in assumed time
	done chan struct{}
	err  error
}

// errGivenUp ends a walk if another one has failed.
var errGivenUp = errors.New("another walk has failed")

// Run goes n walks until each has ended, and returns the error of the first. A walk should
// end once Ending is set. If regular is false of the first error, what is underway ends (but
// for one that waits for a person, who gets the requests of all), and the other walks end
// where they are: Wait returns an error.
func (t *Lanes) Run(ctx context.Context, n int, walk func(context.Context) error, regular func(error) bool) error {
	*t = Lanes{}
	defer func() { *t = Lanes{} }()
	for range n {
		l := &lane{}
		next, stop := iter.Pull(func(yield func(*call) bool) {
			l.yield = yield
			if err := walk(ctx); t.ending == nil {
				t.ending = err
			}
		})
		defer stop()
		l.next = next
		t.all = append(t.all, l)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i := range t.all {
		if t.ending == nil {
			t.resume(i)
		}
	}
	for i := t.soonest(); i >= 0; i = t.soonest() {
		failed := t.ending != nil && !regular(t.ending)
		if failed && !eval.IsPending(t.ending) {
			cancel()
		}
		l := t.all[i]
		<-l.waits.done
		if failed {
			l.waits = nil
			continue
		}
		t.now = l.waits.due
		t.resume(i)
	}
	return t.ending
}

// soonest is the waiting lane whose call is due first, -1 if none waits.
func (t *Lanes) soonest() int {
	first := -1
	for i, l := range t.all {
		if l.waits != nil && (first < 0 || l.waits.due < t.all[first].waits.due) {
			first = i
		}
	}
	return first
}

func (t *Lanes) resume(i int) {
	t.current = i
	t.all[i].waits, _ = t.all[i].next()
}

// Several reports whether there is more than one lane.
func (t *Lanes) Several() bool { return len(t.all) > 0 }

// Current is the index of the lane whose turn it is.
func (t *Lanes) Current() int { return t.current }

// Now is the assumed time.
func (t *Lanes) Now() int { return t.now }

// Ending is the error of the walk that ended first, nil if none has.
func (t *Lanes) Ending() error { return t.ending }

// Wait calls f, which must not use what the walks share, while other lanes go on. It must
// itself be called in a walk's own goroutine. The error is f's.
func (t *Lanes) Wait(takes int, f func() error) error {
	if !t.Several() {
		return f()
	}
	c := &call{due: t.now + takes, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.err = eval.Shielded(f)
	}()
	if !t.all[t.current].yield(c) {
		<-c.done
		return errGivenUp
	}
	return c.err
}

// A Model is called in a walk's own goroutine, and other lanes go on while it is.
type Model struct {
	eval.Model
	Lanes *Lanes
	Takes int // in assumed time
}

// Complete calls the model.
func (m Model) Complete(ctx context.Context, p eval.Prompt) (c eval.Completion, err error) {
	err = m.Lanes.Wait(m.Takes, func() (err error) {
		c, err = m.Model.Complete(ctx, p)
		return err
	})
	return c, err
}

// A Ledger counts rollouts against a cap: what a Budget says of them while some are underway
// depends on timing.
type Ledger struct {
	asked, most int64
	Landed      int64 // those that have ended
}

// NewLedger counts on, after so many rollouts and with so many left as Rest says.
func NewLedger(spent, rest int64) Ledger {
	l := Ledger{asked: spent, Landed: spent, most: rest}
	if rest > 0 {
		l.most += spent
	}
	return l
}

// Ask counts those of jobs that the budget will be charged for, as rollouts of earlier runs
// are free. The error is the Recorder's.
func (l *Ledger) Ask(ctx context.Context, e *eval.Evaluator, jobs []eval.Job) (n int64, err error) {
	for _, j := range jobs {
		free := false
		if e.Recorder != nil {
			r, fresh, err := e.Recorder.Rollout(ctx, e.Key(j))
			if err != nil {
				return 0, err
			}
			free = r != nil && !fresh
		}
		if !free {
			n++
		}
	}
	l.asked += n
	return n, nil
}

// Rest is how many rollouts may still be made: 0 for no cap, -1 for none.
func (l *Ledger) Rest() int64 {
	switch {
	case l.most <= 0:
		return l.most
	case l.asked >= l.most:
		return -1
	}
	return l.most - l.asked
}
