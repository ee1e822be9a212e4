package eval

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/conc/pool"
)

// Run returns one graded rollout per job, in the order of jobs. A rollout that the
// Recorder has is not run again: one that this run paid for is charged to the Budget
// once more, as a resumed run must count it, one of an earlier run is free. Jobs with
// equal keys share one rollout.
//
// A rollout is saved as it ends; a missing one only when the Run as a whole is
// accepted, so that a run stopped by its infrastructure tries it again when it is
// resumed.
//
// With an error the slice still holds what ended, nil for the rest:
//   - a *BudgetError: a cap is used up;
//   - an *InfraError of kind Auth, BadRequest or UsageLimit: every other call would
//     fail too. Jobs that had begun have ended and are saved;
//   - an *InfraError of kind Pending: requests wait for their answers. All other jobs
//     were requested first, as far as a cap on rollouts could let them count. Nothing
//     of a pending job is recorded or charged, except its judge's calls; the same Run
//     again uses the answers;
//   - a *TooManyMissingError;
//   - ctx's error: jobs that had begun are lost, and not saved.
//
// Any other error is the Recorder's, or comes from an invalid case.
func (e *Evaluator) Run(ctx context.Context, jobs []Job) ([]*Rollout, error) {
	if e.Agent == nil || e.Grader == nil {
		return nil, errors.New("evaluate: no agent, or no grader")
	}
	e.init()
	r := &run{e: e, jobs: jobs, out: make([]*Rollout, len(jobs)), setting: e.setting()}
	if err := r.prepare(); err != nil {
		return r.out, err
	}
	if err := r.recall(ctx); err != nil {
		return r.out, err
	}
	if n := min(max(1, e.Concurrency), len(r.todo)); n > 0 {
		p := pool.New().WithMaxGoroutines(n)
		for range n {
			p.Go(func() { r.work(ctx) })
		}
		p.Wait()
	}
	r.e.bookLate()
	for i, at := range r.twins {
		if i != at {
			r.out[i] = r.out[at]
		}
	}
	r.waitForAnswers()
	if r.stop == nil {
		r.stop = r.saveMissing(ctx)
	} else if err := r.loseMissing(ctx); err != nil {
		r.stop = errors.Join(r.stop, err)
	}
	return r.out, r.stop
}

// A run is the state of one Evaluator.Run.
type run struct {
	e       *Evaluator
	setting Setting
	jobs    []Job
	plans   []plan // parallel to jobs
	twins   []int  // job → first job with the same key; nil if all differ
	todo    []int  // jobs without a record
	out     []*Rollout

	// asked counts the jobs that were begun and not settled, and those of them that are
	// pending, which stay in it; waits counts the pending ones alone.
	asked, waits atomic.Int64

	mu      sync.Mutex
	next    int // into todo
	missing int
	pending error // of the first pending job
	stop    error // why no further job is begun
}

// A plan is what a run computes for a job before running it.
type plan struct {
	key  hash
	draw hash   // the key without the server that was asked
	name string // key in hex
	sha  string // the candidate
	kase *caseEntry
	body int64 // estimated tokens of the candidate
}

// asked estimates the prompts of the agent and its judge.
func (p *plan) asked() prompts {
	return prompts{ask: p.body + p.kase.prompt, judge: p.kase.prompt + judgeOverhead}
}

// bill is the bill of out.
func (p *plan) bill(out *Rollout) bill {
	took, asked := billOf(out), p.asked()
	took.lines[0].prompt, took.lines[1].prompt = asked.ask, asked.judge
	return took
}

// prepare validates the cases and computes all keys. Nothing is spent yet.
func (r *run) prepare() error {
	r.plans = make([]plan, len(r.jobs))
	setting, drawn := r.setting.hash(), r.setting.drawn().hash()
	type text struct {
		hash hash
		draw hash
		sha  string
		body int64
	}
	texts := make(map[Variant]text)
	var last Variant
	var lastText text
	first := make(map[hash]int, len(r.jobs))
	var names strings.Builder // one text for all
	names.Grow(2 * len(hash{}) * len(r.jobs))
	var name [2 * len(hash{})]byte

	r.e.mu.Lock()
	defer r.e.mu.Unlock()
	for i := range r.jobs {
		j, p := &r.jobs[i], &r.plans[i]
		if i == 0 || j.Variant != last {
			t, known := texts[j.Variant]
			if !known {
				t = text{variantHash(setting, j.Variant), variantHash(drawn, j.Variant), j.Variant.SHA(), j.Variant.tokens()}
				texts[j.Variant] = t
			}
			last, lastText = j.Variant, t
		}
		kase, err := r.e.entry(j.Case)
		if err != nil {
			return err
		}
		*p = plan{key: jobKey(lastText.hash, kase.hash, j.Trial, j.Arm), draw: jobKey(lastText.draw, kase.hash, j.Trial, j.Arm), sha: lastText.sha, kase: kase, body: lastText.body}
		hex.Encode(name[:], p.key[:])
		names.Write(name[:])
		p.name = names.String()[i*len(name):]
		if at, twin := first[p.key]; twin {
			if r.twins == nil {
				r.twins = make([]int, len(r.jobs))
				for k := range r.twins {
					r.twins[k] = k
				}
			}
			r.twins[i] = at
		} else {
			first[p.key] = i
		}
	}
	return nil
}

// recall takes the rollouts that the Recorder has and lists the other jobs in todo.
func (r *run) recall(ctx context.Context) error {
	r.todo = make([]int, 0, len(r.jobs))
	for i := range r.jobs {
		if r.twins != nil && r.twins[i] != i {
			continue
		}
		if r.e.Recorder != nil {
			if err := r.e.Budget.recallLost(ctx, r.e.Recorder, ByAgent, r.plans[i].name); err != nil {
				return fmt.Errorf("evaluate: look up what a rollout lost: %w", err)
			}
			found, fresh, err := r.e.Recorder.Rollout(ctx, r.plans[i].name)
			if err != nil {
				return fmt.Errorf("evaluate: look up rollout: %w", err)
			}
			// A failure in another run is never reused.
			if found != nil && (fresh || found.Status == Done) {
				if fresh && r.e.Budget != nil {
					took := r.plans[i].bill(found)
					r.e.Budget.chargeOnce(r.plans[i].key, &took)
				}
				r.out[i] = found
				r.e.recorded(found.Key)
				r.tell(found)
				continue
			}
		}
		r.todo = append(r.todo, i)
	}
	return nil
}

// work runs jobs until none is left or the run stops. It occupies one of the
// Evaluator's slots.
func (r *run) work(ctx context.Context) {
	select {
	case r.e.slots <- struct{}{}:
	case <-ctx.Done():
		r.halt(ctx.Err())
		return
	}
	defer func() { <-r.e.slots }()
	for {
		i, reserved, ok := r.pull(ctx)
		if !ok {
			return
		}
		out, err := r.e.rollout(ctx, &r.jobs[i], &r.plans[i], &r.setting.Agent)
		r.settle(i, reserved, out, err)
		if r.e.Recorder == nil && !IsPending(err) {
			r.e.recorded(out.Key)
		}
		if err == nil && out.Status != Missing && r.e.Recorder != nil {
			// The rollout is paid for, so it is stored even if the run was interrupted.
			if serr := r.e.Recorder.SaveRollout(context.WithoutCancel(ctx), out); serr != nil {
				err = fmt.Errorf("evaluate: save rollout: %w", serr)
			} else {
				r.e.Budget.end(context.WithoutCancel(ctx), out.Key)
				r.e.recorded(out.Key)
			}
		}
		switch {
		case errors.As(err, new(*BudgetError)):
			if serr := r.lose(ctx, out); serr != nil {
				err = errors.Join(err, serr)
			}
		case hopeless(err) && out.Attempts == 0 && lostIn(out) == (Lost{}):
			r.e.Budget.end(ctx, out.Key) // refused: nothing was spent
		}
		r.take(i, out, err)
	}
}

// pull returns the next job with its reservation. Jobs are begun strictly in order, so
// that a cap always cuts off the last ones.
func (r *run) pull(ctx context.Context) (i int, reserved demand, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop != nil || r.next == len(r.todo) {
		return 0, reserved, false
	}
	if r.stop = ctx.Err(); r.stop != nil {
		return 0, reserved, false
	}
	i = r.todo[r.next]
	if b := r.e.Budget; b != nil {
		attempts := 1 + r.e.MaxRetries
		reserved, r.stop = b.acquireRollout(ctx, attempts, attempts*r.plans[i].kase.judges, r.plans[i].asked())
		if r.stop != nil {
			return 0, reserved, false
		}
		if r.e.Recorder != nil {
			if r.stop = b.begin(r.plans[i].name, reserved); r.stop != nil {
				b.settle(reserved, &bill{}, nil)
				return 0, reserved, false
			}
		}
		if r.overasked(attempts) {
			b.end(ctx, r.plans[i].name)
			b.settle(reserved, &bill{}, nil)
			r.next = len(r.todo)
			return 0, reserved, false
		}
	}
	r.asked.Add(1)
	r.next++
	return i, reserved, true
}

// overasked reports whether one more job could no longer count once all pending ones
// are answered. Pending jobs reserve nothing of the budget, and nobody should have to
// answer a request that the cap on rollouts then cuts off.
func (r *run) overasked(attempts int) bool {
	left := r.e.Budget.Remaining().Rollouts
	return left != 0 && r.waits.Load() > 0 && r.asked.Load()+int64(attempts) > left
}

// settle releases the reservation of job i and books its usage. Of a pending job only
// the judge's usage is booked: its own attempts will be made again, and count then. The
// job is counted as pending first, so that overasked sees it in time.
func (r *run) settle(i int, reserved demand, out *Rollout, err error) {
	key := &r.plans[i].key
	if IsPending(err) {
		r.e.Budget.end(context.Background(), r.plans[i].name) // the note stays, and the request will be made again
		r.waits.Add(1)
		out.Attempts, out.InfraRetries = 0, 0
		key = nil
	} else {
		defer r.asked.Add(-1)
	}
	if r.e.Budget == nil {
		return
	}
	if r.e.Recorder == nil {
		key = nil // it will never be found
	}
	took := r.plans[i].bill(out)
	r.e.Budget.settle(reserved, &took, key)
}

// take handles the end of job i: a rollout, a pending answer, or an error that ends the
// run.
func (r *run) take(i int, out *Rollout, err error) {
	if IsPending(err) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.pending == nil {
			r.pending = err
		}
		return
	}
	if err != nil && !errors.As(err, new(*gaveUp)) {
		r.halt(err)
		return
	}
	r.out[i] = out
	r.tell(out)
	if out.Status != Missing {
		if r.e.row.Load() > 0 {
			r.e.row.Store(0)
		}
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missing++
	share := r.e.MaxMissing
	if share == 0 {
		share = 0.2
	}
	row := int(r.e.row.Add(1))
	switch {
	case r.stop != nil:
	case r.missing >= 3 && float64(r.missing) > share*float64(len(r.jobs)):
		r.stop = &TooManyMissingError{Missing: r.missing, Jobs: len(r.jobs), Err: err}
	case row >= missingInRow:
		r.stop = &TooManyMissingError{Missing: row, Jobs: row, Err: err}
	}
}

// waitForAnswers ends a run that has pending jobs. It takes precedence over a used-up
// cap: the pending jobs may still be answered within it.
func (r *run) waitForAnswers() {
	if r.pending == nil || r.stop != nil && !errors.As(r.stop, new(*BudgetError)) {
		return
	}
	r.stop = fmt.Errorf("evaluate: %d of %d rollouts wait for an answer: %w", r.waits.Load(), len(r.jobs), r.pending)
}

// missingInRow is how many rollouts in a row, over all Runs, may be missing.
const missingInRow = 10

// halt prevents further jobs; the first reason is the run's error.
func (r *run) halt(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop == nil {
		r.stop = err
	}
}

func (r *run) tell(out *Rollout) {
	if r.e.OnRollout != nil {
		r.e.tell.Lock()
		defer r.e.tell.Unlock()
		r.e.OnRollout(out)
	}
}

func (r *run) saveMissing(ctx context.Context) error {
	if r.e.Recorder == nil || r.missing == 0 {
		return nil
	}
	for _, i := range r.todo {
		if out := r.out[i]; out != nil && out.Status == Missing {
			if err := r.e.Recorder.SaveRollout(ctx, out); err != nil {
				return fmt.Errorf("evaluate: save rollout: %w", err)
			}
			r.e.Budget.end(ctx, out.Key)
			r.e.recorded(out.Key)
		}
	}
	return nil
}

// lose keeps the known usage of a discarded rollout, and nothing else of it.
func (r *run) lose(ctx context.Context, out *Rollout) error {
	if err := r.e.saveLost(ctx, out); err != nil {
		return fmt.Errorf("evaluate: save what a rollout lost: %w", err)
	}
	r.e.Budget.end(ctx, out.Key)
	r.e.recorded(out.Key)
	return nil
}

// loseMissing does that for the missing rollouts of a run that is not accepted.
func (r *run) loseMissing(ctx context.Context) error {
	for _, i := range r.todo {
		if out := r.out[i]; r.missing > 0 && out != nil && out.Status == Missing {
			if err := r.lose(context.WithoutCancel(ctx), out); err != nil {
				return err
			}
		}
	}
	return nil
}
