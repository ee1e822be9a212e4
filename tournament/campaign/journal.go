package campaign

import (
	"context"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/tournament/campaign/usedtime"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Record records what a run spends and how much time it has used while it
// is at work. The caller must close it.
type Record struct {
	journal  record.Journal
	lease    *lock.Lease
	clock    *usedtime.Keeper
	underway *store.Underway
}

// NewRecord begins the record of a run. It charges the budget with the time
// that its earlier processes used (known, or more), and with their calls that
// were never answered. lease is that of a night, nil outside of nights.
func NewRecord(ctx context.Context, db *store.Store, run string, budget *eval.Budget, known time.Duration, lease *lock.Lease) (*Record, error) {
	used, err := db.RunTime(ctx, run)
	if err != nil {
		return nil, err
	}
	u, calls, reserved, err := db.Underway(ctx, run)
	if err != nil {
		return nil, err
	}
	if calls > 0 {
		budget.Assume(calls, reserved)
	}
	budget.Note(leasedCalls{u, lease, ctx})
	budget.ChargeTime(max(used, known)) // a process that ended by itself wrote its time into the run, too
	clock := &usedtime.Keeper{Used: func() time.Duration { return time.Duration(budget.Spent().WallMS) * time.Millisecond },
		Save: func(ctx context.Context, used time.Duration) error { return db.SaveRunTime(ctx, run, used) }}
	clock.Start()
	return &Record{db.Journal(run), lease, clock, u}, nil
}

// Journal is the journal that records the run.
func (r *Record) Journal() record.Journal { return runJournal{r.journal, r.lease, r.clock} }

// Close writes the used time for the last time. It does nothing for nil.
func (r *Record) Close() {
	if r != nil {
		r.clock.End()
		_ = r.underway.Close() // what stays behind counts, which is safe
	}
}

// A runJournal records the time of its run together with its results. In a
// night's run, a process that was suspended and has lost the night to another
// one makes no call and records no decision. It still records answers that
// arrive: they are paid for, and the other process may use them.
type runJournal struct {
	record.Journal
	lease *lock.Lease      // nil outside of nights
	clock *usedtime.Keeper // nil if no time is kept
}

// Rollout implements eval.Recorder: it is called before every rollout that is
// paid for.
func (j runJournal) Rollout(ctx context.Context, key string) (*eval.Rollout, bool, error) {
	if err := j.lease.Held(ctx); err != nil {
		return nil, false, err
	}
	return j.Journal.Rollout(ctx, key)
}

// Completion implements eval.Recorder: it is called before every call that is
// paid for.
func (j runJournal) Completion(ctx context.Context, key string) (*eval.Completion, error) {
	if err := j.lease.Held(ctx); err != nil {
		return nil, err
	}
	return j.Journal.Completion(ctx, key)
}

// SaveRun implements record.Journal.
func (j runJournal) SaveRun(ctx context.Context, r *record.Run) error {
	return j.under(ctx, func() error { return j.Journal.SaveRun(ctx, r) })
}

// SaveCandidate implements record.Journal.
func (j runJournal) SaveCandidate(ctx context.Context, c *record.Candidate) error {
	return j.under(ctx, func() error { return j.Journal.SaveCandidate(ctx, c) })
}

// AppendEvent implements record.Journal.
func (j runJournal) AppendEvent(ctx context.Context, e record.Event) error {
	return j.under(ctx, func() error { return j.Journal.AppendEvent(ctx, e) })
}

// SaveTrial implements record.Journal.
func (j runJournal) SaveTrial(ctx context.Context, t *record.TrialRecord) error {
	return j.under(ctx, func() error { return j.Journal.SaveTrial(ctx, t) })
}

// SpendCase implements record.Journal.
func (j runJournal) SpendCase(ctx context.Context, skill, incumbent, challenger, caseID, print string) error {
	return j.under(ctx, func() error { return j.Journal.SpendCase(ctx, skill, incumbent, challenger, caseID, print) })
}

// SaveRollout implements eval.Recorder.
func (j runJournal) SaveRollout(ctx context.Context, r *eval.Rollout) error {
	return j.timed(ctx, j.Journal.SaveRollout(ctx, r))
}

// SaveCompletion implements eval.Recorder.
func (j runJournal) SaveCompletion(ctx context.Context, key string, by eval.Spender, c *eval.Completion) error {
	return j.timed(ctx, j.Journal.SaveCompletion(ctx, key, by, c))
}

func (j runJournal) timed(ctx context.Context, err error) error {
	if err != nil || j.clock == nil {
		return err
	}
	return j.clock.Keep(ctx, usedtime.BetweenRecords)
}

func (j runJournal) under(ctx context.Context, write func() error) error {
	if err := j.lease.Held(ctx); err != nil {
		return err
	}
	return write()
}

// leasedCalls are the calls of a run under the lease of a night, if there is
// one: a process that was suspended and has lost the night to another one
// begins none. A look-up in the records precedes many calls, this check each
// one.
type leasedCalls struct {
	eval.Underway
	lease *lock.Lease
	ctx   context.Context
}

// Begin implements eval.Underway.
func (c leasedCalls) Begin(key string, reserved eval.Assumed) error {
	if err := c.lease.Held(c.ctx); err != nil {
		return err
	}
	return c.Underway.Begin(key, reserved)
}
