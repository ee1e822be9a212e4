package eval

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/skill-evolve/evolve/eval/wallclock"
)

// An Executor has the attempts at tasks made: Local in this process, a fleet's on other
// machines. Grading, budget, records and retries stay with the Evaluator, so that what a run
// decides does not depend on where its agents ran. It must be safe for concurrent use.
type Executor interface {
	// Begin makes the place in which the attempts of one rollout follow each other. An error
	// is as for Workspaces.Open.
	Begin(ctx context.Context, t Task, w Work) (Place, error)
}

// A Keeper is an Executor that keeps what was done until it is recorded.
type Keeper interface {
	// Recorded says that the rollout of this key is recorded, or will not be.
	Recorded(key string)
	// Late returns what was paid for answers that nobody waited for any more, each once.
	Late() []Cost
}

// A StaysError is a task that only this machine can do.
type StaysError struct{ Why string }

func (e *StaysError) Error() string { return "it cannot be sent to another machine: " + e.Why }

// A Place is where one rollout takes place. It belongs to one goroutine.
type Place interface {
	// Attempt makes one attempt at t, whose Workspace, Before and Prepared are the place's.
	// The Attempt has Started and Duration. Errors are as for Agent.Run.
	Attempt(ctx context.Context, t Task) (Attempt, error)
	// Folder is what the last attempt left, for checks that look into it; "" if there is none.
	Folder(ctx context.Context) (string, error)
	Close()
}

// Work is what an Executor needs to know of a rollout beside its task.
type Work struct {
	Key       string        // the rollout's
	Agent     Identity      // that answers
	Pair      string        // equal for all rollouts of a pair; "" outside of trials
	Avoid     string        // see Job.Avoid
	WallClock time.Duration // of one attempt; 0 is no limit
}

// Local makes attempts in this process.
type Local struct {
	Agent      Agent
	Workspaces Workspaces       // nil: tasks have no workspace
	Now        func() time.Time // nil: time.Now
}

// Begin implements Executor.
func (l *Local) Begin(ctx context.Context, t Task, w Work) (Place, error) {
	p := &localPlace{of: l, wall: w.WallClock}
	if l.Workspaces == nil {
		return p, nil
	}
	var err error
	if p.folder, err = l.Workspaces.Open(ctx, t.Case); err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	return p, nil
}

type localPlace struct {
	of     *Local
	folder Folder
	wall   time.Duration
}

// Attempt implements Place. A time-out while the model was answering is the candidate's
// fault: a candidate that hangs must score badly, not be missing. An agent that never reached
// the model returns an InfraError.
func (p *localPlace) Attempt(ctx context.Context, t Task) (a Attempt, err error) {
	t.Workspace, t.Before, t.Prepared = p.folder.Dir, p.folder.Before, p.folder.Prepared
	now, timer := time.Now, time.Time{}
	if p.of.Now != nil { // the timer uses the real clock
		now = p.of.Now
	}
	begun := now()
	if p.of.Now == nil {
		timer = begun
	}
	ranOut, err := wallclock.Within(ctx, timer, p.wall, func(ctx context.Context) (err error) {
		a, err = p.of.Agent.Run(ctx, t)
		return err
	})
	a.Started = begun
	if a.Duration <= 0 {
		a.Duration = now().Sub(begun)
	}
	if err != nil && ranOut && !errors.As(err, new(*InfraError)) {
		a.Failure = fmt.Sprintf("no end of the answer within %v", p.wall)
		return a, nil
	}
	return a, err
}

// Folder implements Place.
func (p *localPlace) Folder(context.Context) (string, error) { return p.folder.Dir, nil }

// Close implements Place.
func (p *localPlace) Close() {
	if p.folder.Close != nil {
		p.folder.Close()
	}
}

// pairOf is the pair that a job is part of: all replays of a cluster's cases in the two arms.
func pairOf(j *Job) string {
	if j.Arm == "" {
		return ""
	}
	k := hashJSON("pair/1", []string{ClusterOf(j.Case), j.Arm})
	return hex.EncodeToString(k[:16])
}
