// Package readlimit bounds how often a model is asked to read corrections: what a night reads of
// them, and how often a call may fail.
package readlimit

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

// A night does not ask for approval before it reads what may be years of
// corrections, and its cap on rollouts does not count those calls. It makes
// at most half as many calls for them as a skill's share has rollouts, but
// always a few; the next night continues.
const (
	readAtLeast  = 20
	readUncapped = 120 // without a cap on rollouts
)

// OfNight is how many calls a night makes to read the corrections of a
// skill whose share has so many rollouts; 0 rollouts is no cap.
func OfNight(rollouts int64) int64 {
	if rollouts == 0 {
		return readUncapped
	}
	return max(readAtLeast, rollouts/2)
}

// A Reader is a miner with a limit of calls, after which it answers
// nothing: corrections that it would have read are quoted instead, and read
// by a later run. It follows the recorded replies, which count as calls only.
type Reader struct {
	eval.Model
	Limit int64        // 0: none
	Asked func() int64 // how many calls there were

	mu      sync.Mutex
	refused int
	failed  int
}

// Failed is how many calls were made, and are on no bill: they reported no usage.
func (r *Reader) Failed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

var errReadEnough = errors.New("enough was read for one night")

// Complete implements eval.Model.
func (r *Reader) Complete(ctx context.Context, q eval.Prompt) (eval.Completion, error) {
	if r.Limit > 0 && r.Asked() >= r.Limit {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.refused++
		return eval.Completion{}, &eval.InfraError{Kind: eval.BadRequest, Err: errReadEnough} // of a kind that is not tried again
	}
	c, err := r.Model.Complete(ctx, q)
	if err != nil && !eval.IsPending(err) && c.Usage == nil && c.CostUSD == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.failed++
	}
	return c, err
}

// Warnings reports what was left unread.
func (r *Reader) Warnings() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s to read corrections were made, which is all that a night has for them by its rollouts; %s left for the next night",
		plain.Counted(int(r.Limit), "call"), are(r.refused))}
}

// failuresInARow is how many calls in a row may fail, each after its retries,
// before the model is considered dead.
const failuresInARow = 3

// Failures asks a model until failuresInARow calls in a row have
// failed, and fails at once from then on: a dead server must not be asked
// about hundreds of corrections, each with its retries and pauses. It also
// counts the replies that are still to come.
type Failures struct {
	eval.Model

	mu      sync.Mutex
	inARow  int
	last    error
	pending int
	awaited error // the last pending one
	refused error // the owner does not want the model to be asked
}

// Complete implements eval.Model.
func (f *Failures) Complete(ctx context.Context, q eval.Prompt) (eval.Completion, error) {
	if err := f.dead(); err != nil {
		return eval.Completion{}, err
	}
	c, err := f.Model.Complete(ctx, q)
	f.mu.Lock()
	defer f.mu.Unlock()
	infra, failed := errors.AsType[*eval.InfraError](err)
	switch {
	case failed && infra.Kind == eval.Refused:
		f.refused = err
	case err == nil:
		f.inARow = 0
	case eval.IsPending(err):
		f.pending, f.awaited = f.pending+1, err
	case failed && !errors.Is(err, errReadEnough):
		f.inARow, f.last = f.inARow+1, err
	}
	return c, err
}

// Unanswered is the error of a model that may not be asked, or reports how many replies
// are still to come; nil for none.
func (f *Failures) Unanswered() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refused != nil {
		return f.refused
	}
	if f.pending == 0 {
		return nil
	}
	return fmt.Errorf("%d of the miner's questions have no answer yet: %w", f.pending, f.awaited)
}

// dead is the error of a model that is no longer asked, nil for one that is.
func (f *Failures) dead() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refused != nil || f.inARow < failuresInARow {
		return f.refused
	}
	return f.last
}

// Warnings reports which corrections were left unread, and why.
func (f *Failures) Warnings() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.inARow < failuresInARow {
		return nil
	}
	return []string{fmt.Sprintf("no more corrections were read after %d calls in a row had failed (%v); those left are quoted as they stand until a later run reads them",
		f.inARow, f.last)}
}

func are(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}
