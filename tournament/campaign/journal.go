package campaign

import (
	"context"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/skill-evolve/evolve/tournament/record"
)

// A Record keeps what a run spends and how much time it has used while it is at work.
// The caller must close it.
type Record struct {
	db    *store.Store
	run   string
	lease *lock.Lease
	clock *timekeeper
	noted func() // ends the notes of calls under way
}

// NewRecord begins the record of a run, and puts on its budget what its earlier
// processes used of its time (known, or more), and the calls that they never saw
// answered. lease is that of a night, nil outside of nights.
func NewRecord(ctx context.Context, db *store.Store, run string, budget *eval.Budget, known time.Duration, lease *lock.Lease) (*Record, error) {
	noted, err := noteCalls(ctx, db, run, budget, lease)
	if err != nil {
		return nil, err
	}
	// A process that ended by itself wrote its time into the run, too.
	clock, err := keepTime(ctx, db, run, known, budget)
	if err != nil {
		noted()
		return nil, err
	}
	return &Record{db: db, run: run, lease: lease, clock: clock, noted: noted}, nil
}

// Journal is what the run is recorded in.
func (r *Record) Journal() record.Journal {
	return timedJournal{leased{r.db.Journal(r.run), r.lease}, r.clock}
}

// Close writes the used time down for the last time. It does nothing for nil.
func (r *Record) Close() {
	if r != nil {
		r.clock.end()
		r.noted()
	}
}

// A leased journal is that of a night's run: nothing is asked, and nothing decided is
// written, by a process that was suspended and has lost the night to another one.
// Answers that came meanwhile are kept: they are paid for, and the other one may still
// use them. Outside of nights it is the journal alone.
type leased struct {
	record.Journal
	lease *lock.Lease
}

// Rollout implements eval.Recorder: it comes before every rollout that is paid for.
func (j leased) Rollout(ctx context.Context, key string) (*eval.Rollout, bool, error) {
	if err := j.lease.Held(ctx); err != nil {
		return nil, false, err
	}
	return j.Journal.Rollout(ctx, key)
}

// Completion implements eval.Recorder: it comes before every call that is paid for.
func (j leased) Completion(ctx context.Context, key string) (*eval.Completion, error) {
	if err := j.lease.Held(ctx); err != nil {
		return nil, err
	}
	return j.Journal.Completion(ctx, key)
}

// SaveRun implements record.Journal.
func (j leased) SaveRun(ctx context.Context, r *record.Run) error {
	return j.under(ctx, func() error { return j.Journal.SaveRun(ctx, r) })
}

// SaveCandidate implements record.Journal.
func (j leased) SaveCandidate(ctx context.Context, c *record.Candidate) error {
	return j.under(ctx, func() error { return j.Journal.SaveCandidate(ctx, c) })
}

// AppendEvent implements record.Journal.
func (j leased) AppendEvent(ctx context.Context, e record.Event) error {
	return j.under(ctx, func() error { return j.Journal.AppendEvent(ctx, e) })
}

// SaveTrial implements record.Journal.
func (j leased) SaveTrial(ctx context.Context, t *record.TrialRecord) error {
	return j.under(ctx, func() error { return j.Journal.SaveTrial(ctx, t) })
}

// SpendCase implements record.Journal.
func (j leased) SpendCase(ctx context.Context, skill, incumbent, challenger, caseID, print string) error {
	return j.under(ctx, func() error { return j.Journal.SpendCase(ctx, skill, incumbent, challenger, caseID, print) })
}

func (j leased) under(ctx context.Context, write func() error) error {
	if err := j.lease.Held(ctx); err != nil {
		return err
	}
	return write()
}
