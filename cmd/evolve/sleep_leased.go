package main

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// A leased journal is that of a night's run: nothing is asked, and nothing decided is
// written, by a process that was suspended and has lost the night to another one.
// Answers that came meanwhile are kept: they are paid for, and the other one may still
// use them. Outside of nights it is the journal alone.
type leased struct{ tournament.Journal }

// Rollout implements eval.Recorder: it comes before every rollout that is paid for.
func (j leased) Rollout(ctx context.Context, key string) (*eval.Rollout, bool, error) {
	if err := sleep.LeaseOf(ctx).Held(ctx); err != nil {
		return nil, false, err
	}
	return j.Journal.Rollout(ctx, key)
}

// Completion implements eval.Recorder: it comes before every other call.
func (j leased) Completion(ctx context.Context, key string) (*eval.Completion, error) {
	if err := sleep.LeaseOf(ctx).Held(ctx); err != nil {
		return nil, err
	}
	return j.Journal.Completion(ctx, key)
}

func (j leased) SaveRun(ctx context.Context, r *tournament.Run) error {
	return under(ctx, func() error { return j.Journal.SaveRun(ctx, r) })
}

func (j leased) SaveCandidate(ctx context.Context, c *tournament.Candidate) error {
	return under(ctx, func() error { return j.Journal.SaveCandidate(ctx, c) })
}

func (j leased) AppendEvent(ctx context.Context, e tournament.Event) error {
	return under(ctx, func() error { return j.Journal.AppendEvent(ctx, e) })
}

func (j leased) SaveTrial(ctx context.Context, t *tournament.TrialRecord) error {
	return under(ctx, func() error { return j.Journal.SaveTrial(ctx, t) })
}

func (j leased) SpendCase(ctx context.Context, skill, incumbent, challenger, caseID, print string) error {
	return under(ctx, func() error { return j.Journal.SpendCase(ctx, skill, incumbent, challenger, caseID, print) })
}

func under(ctx context.Context, write func() error) error {
	if err := sleep.LeaseOf(ctx).Held(ctx); err != nil {
		return err
	}
	return write()
}
