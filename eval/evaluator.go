package eval

import (
	"context"
	"encoding/hex"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// A Job asks for one rollout.
type Job struct {
	Variant Variant
	Case    *Case
	Trial   int
	// Arm is "" for the search, whose rollouts any later run may reuse under the same
	// key. The gate uses its trial's name, so that its measurements are never taken
	// from another's cache.
	Arm string
	// Avoid is the worker of a fleet that must not run it; "" for any. It changes no answer
	// of an honest worker, so it is no part of the key.
	Avoid string
}

// A Recorder stores rollouts and completions under their keys as they end. It must be
// safe for concurrent use.
type Recorder interface {
	// Rollout returns the recorded rollout, or nil if there is none. fresh is true if
	// this run paid for it (a resumed run), false if an earlier run did.
	Rollout(ctx context.Context, key string) (r *Rollout, fresh bool, err error)
	SaveRollout(ctx context.Context, r *Rollout) error
	// Completion returns the recorded reply of this run, or nil.
	Completion(ctx context.Context, key string) (*Completion, error)
	SaveCompletion(ctx context.Context, key string, by Spender, c *Completion) error
}

// A Redactor removes secrets and personal data from a text before it is stored or sent,
// and counts them. It must be safe for concurrent use.
type Redactor interface {
	Redact(text string) (clean string, found int)
}

// redact is r.Redact, if there is one.
func redact(r Redactor, text string) string {
	if r == nil || text == "" {
		return text
	}
	clean, _ := r.Redact(text)
	return clean
}

// A CaseChecker is a Grader that can reject a case before anything is spent.
type CaseChecker interface {
	CheckCase(c *Case) error
}

// Workspaces makes the folders that agents work in.
type Workspaces interface {
	// Open returns a folder with the case's files for one rollout. An error is an
	// infrastructure failure.
	Open(ctx context.Context, c *Case) (Folder, error)
}

// A Folder is what an agent works in.
type Folder struct {
	Dir string
	// Before reads a file as it was when the folder was opened, a repository's info/exclude
	// too; fs.ErrNotExist if there was none. name is slash-separated, below Dir.
	Before   func(name string) ([]byte, error)
	Close    func()    // removes the folder
	Prepared *Prepared // what it needs besides itself; nil for nothing
}

// A Prepared is what was prepared for a folder outside of it: its dependencies.
type Prepared struct {
	Root string   // a folder that must be readable, and must not be written to
	Env  []string // KEY=VALUE
}

// A Preparer is a Workspaces whose folders may have more than their case says. Prepared
// identifies that; "" for nothing.
type Preparer interface{ Prepared(c *Case) string }

// An Evaluator turns jobs into graded rollouts. Set the fields before the first Run and
// do not change them; Run may then be called concurrently. A Case must not change
// between two Runs, except for its Split, Cluster and Source.
type Evaluator struct {
	Agent      Agent
	Grader     Grader
	Budget     *Budget    // nil: no caps
	Recorder   Recorder   // nil: nothing is kept, nothing is reused
	Redactor   Redactor   // applied to every text of a rollout, after grading; nil: nothing is changed
	Workspaces Workspaces // nil: tasks have no workspace
	Others     []Offer    // installed beside the variant: in trigger cases they compete with it
	// Executor has the agent's attempts made; nil: Local, with Agent and Workspaces.
	Executor Executor

	// Concurrency is how many rollouts run at once, over all Runs of this Evaluator. 0
	// means 1.
	Concurrency int
	// Limiter, if set, is waited for before every call of the agent.
	Limiter *rate.Limiter
	// WallClock limits one attempt of the agent, and one grading; 0 is no limit. An
	// agent that exceeds it has failed (quality 0); a judge that exceeds it counts as
	// unreachable.
	WallClock time.Duration
	// MaxRetries is how often a failed attempt is followed by another that gets its
	// answer and what was wrong with it. 0: retries are inferred from the first attempt
	// (see Rollout.Retries). All 1 + MaxRetries attempts are reserved before the first,
	// so that a cap never leaves a rollout half measured.
	MaxRetries int
	// InfraTries is how often a call is made before the infrastructure's
	// failure is accepted and the rollout is missing. 0 means 5.
	InfraTries int
	// MaxMissing is the share of a Run's jobs that may be missing; with more, and at
	// least three, Run stops. 0 means 0.2. Runs too small for that (the gate's pairs)
	// stop after ten missing rollouts in a row.
	MaxMissing float64

	Now func() time.Time // nil: time.Now
	// OnRollout, if set, is called with every rollout as it ends or is
	// found, one at a time, in no fixed order.
	OnRollout func(*Rollout)

	once  sync.Once
	slots chan struct{} // of capacity Concurrency
	mu    sync.Mutex
	cases map[*Case]*caseEntry
	tell  sync.Mutex   // serialises OnRollout
	row   atomic.Int32 // missing rollouts in a row
}

// A caseEntry is what an Evaluator computes once per case.
type caseEntry struct {
	hash   hash
	judges int   // judge checks: calls to reserve per attempt
	prompt int64 // estimated tokens of the request
	slow   bool  // grading may take long: a program or a model is called
}

func (e *Evaluator) init() {
	e.once.Do(func() {
		e.slots = make(chan struct{}, max(1, e.Concurrency))
		e.cases = make(map[*Case]*caseEntry)
	})
}

func (e *Evaluator) executor() Executor {
	if e.Executor != nil {
		return e.Executor
	}
	return &Local{e.Agent, e.Workspaces, e.Now}
}

// recorded tells an Executor that keeps what was done.
func (e *Evaluator) recorded(key string) {
	if k, ok := e.Executor.(Keeper); ok {
		k.Recorded(key)
		e.bookLate()
	}
}

// bookLate charges what was paid for answers that came too late.
func (e *Evaluator) bookLate() {
	k, ok := e.Executor.(Keeper)
	if !ok {
		return
	}
	for _, c := range k.Late() {
		var lost Lost
		lost.lose(c)
		e.Budget.chargeFailed(ByAgent, 1, lost)
	}
}

func (e *Evaluator) setting() Setting {
	s := Setting{Agent: e.Agent.Identity(), MaxRetries: e.MaxRetries, WallClock: e.WallClock}
	if e.Grader != nil {
		s.Grader = e.Grader.Identity()
	}
	if len(e.Others) > 0 {
		var names [][2]string
		for _, o := range e.Others {
			names = append(names, [2]string{o.Name, o.SHA})
		}
		h := hashJSON("others/1", names)
		s.Others = hex.EncodeToString(h[:])
	}
	return s
}

// Key is the key that Run records j's rollout under.
func (e *Evaluator) Key(j Job) string { return j.key(e.setting(), e.caseHash(j.Case)) }

// caseHash is that of a case and of what its folder has besides.
func (e *Evaluator) caseHash(c *Case) hash {
	if p, ok := e.Workspaces.(Preparer); ok && p.Prepared(c) != "" {
		return hashJSON("prepared/1", []string{fmt.Sprintf("%x", caseHash(c)), p.Prepared(c)})
	}
	return caseHash(c)
}

// entry returns the caseEntry of c; the first call validates c. Callers hold e.mu.
func (e *Evaluator) entry(c *Case) (*caseEntry, error) {
	if k := e.cases[c]; k != nil {
		return k, nil
	}
	if c == nil {
		return nil, fmt.Errorf("evaluate: job without a case")
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	if g, ok := e.Grader.(CaseChecker); ok {
		if err := g.CheckCase(c); err != nil {
			return nil, fmt.Errorf("evaluate: case %q: %w", c.ID, err)
		}
	}
	k := &caseEntry{hash: e.caseHash(c), prompt: c.tokens()}
	for i := range c.Checks {
		asks := c.Checks[i].Asks()
		if asks {
			k.judges++
		}
		k.slow = k.slow || asks || c.Checks[i].Executing()
	}
	e.cases[c] = k
	return k, nil
}

// A TooManyMissingError ends a Run whose infrastructure fails too often for the
// remaining rollouts to be meaningful.
type TooManyMissingError struct {
	Missing, Jobs int
	Err           error // the last cause
}

func (e *TooManyMissingError) Error() string {
	return fmt.Sprintf("evaluate: %d of %d rollouts are missing, the last because of: %v", e.Missing, e.Jobs, e.Err)
}

func (e *TooManyMissingError) Unwrap() error { return e.Err }
