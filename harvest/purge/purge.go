// Package purge removes sessions and all that was made of them without a trace, and the
// text of those whose time is over: files first, then what the store has.
package purge

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/lock"
)

// A Purger purges sessions.
type Purger struct {
	Store *store.Store
	Dir   datadir.Dir
	Locks lock.Locks
	Now   func() time.Time
	Say   func(format string, args ...any)
	// Report writes a run's report anew and returns its path.
	Report func(ctx context.Context, run string) (path string, err error)
	// Elsewhere removes what is on other machines, and says what it did and could not do; nil:
	// nothing is.
	Elsewhere func(ctx context.Context) (lines []string)
}

// A Plan is what a purge of sessions would remove.
type Plan struct {
	Sessions []string // ids
	Removes  store.PurgeReport
}

// A Result is what a purge removed, or would remove: schema 1.
type Result struct {
	Schema      int       `json:"schema,omitempty"`
	Sessions    []string  `json:"sessions,omitempty"` // ids
	Transcripts int       `json:"transcripts"`
	Cases       []string  `json:"cases"`
	Rollouts    int       `json:"rollouts"`
	Replies     int       `json:"replies"`
	HookCases   int       `json:"hook_cases,omitempty"` // of calls of the sessions
	Texts       []string  `json:"texts"`                // SHA-256 of those removed
	Trials      int       `json:"trials"`               // of challengers whose text was removed
	Runs        []string  `json:"runs"`                 // with cases of the sessions
	Versions    []Version `json:"versions"`             // that learned from them; they are kept
	Files       []string  `json:"files,omitempty"`
	Reports     []string  `json:"reports,omitempty"`   // made anew
	Elsewhere   []string  `json:"elsewhere,omitempty"` // what became of what is on other machines
	Left        []string  `json:"left,omitempty"`      // files that may contain some of it, for the owner to remove

	Removed store.PurgeReport `json:"-"` // from the store
}

// A Version is one that learned from a purged session.
type Version struct {
	Skill   string `json:"skill"`
	Version int    `json:"version"`
	SHA     string `json:"sha256"`
}

// ResultOf is a Result for what the store removed, or would remove.
func ResultOf(r store.PurgeReport) *Result {
	p := &Result{Transcripts: r.Sessions, Cases: append([]string{}, r.CaseIDs...), Rollouts: r.Rollouts, Replies: r.Completions, HookCases: r.HookCases,
		Texts: append([]string{}, r.Removed...), Trials: r.Trials, Runs: append([]string{}, r.Runs...), Versions: []Version{}, Removed: r}
	for _, v := range r.Versions {
		p.Versions = append(p.Versions, Version{v.Skill, v.N, v.SHA})
	}
	return p
}

// Plan lists what a purge of sessions would remove, and removes nothing. While a
// process works on a run, the error is a *lock.RunBusyError: that run would write again
// what it is using.
func (p *Purger) Plan(ctx context.Context, sessions []string) (*Plan, error) {
	runs, err := p.Store.Runs(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if busy, err := p.Locks.Running(r.ID); err != nil {
			return nil, err
		} else if busy {
			return nil, lock.RunBusy(r.ID)
		}
	}
	removes, err := p.Store.PlanPurge(ctx, sessions)
	return &Plan{sessions, removes}, err
}

// Apply removes files first and then the store's rows: if it is interrupted, the store
// still knows which files there were, and purging the same sessions again finishes.
func (p *Purger) Apply(ctx context.Context, plan *Plan) (*Result, error) {
	w := sweep{home: p.Dir, ids: plan.Sessions, plan: plan.Removes}
	var err error
	if w.boxes, err = requestFolders(ctx, p.Store, p.Dir, plan.Removes.Runs); err != nil {
		return nil, err
	}
	if err := w.files(); err != nil {
		return nil, fmt.Errorf("purge: %w", err)
	}
	done, err := p.Store.PurgeSessions(ctx, plan.Sessions)
	if err != nil {
		return nil, problem.Hinted(err, "type the same command again, with the whole id, once nothing else uses the database")
	}
	r := ResultOf(done)
	r.Schema, r.Sessions, r.Files, r.Left = 1, plan.Sessions, w.removed, slices.Compact(slices.Sorted(slices.Values(append(w.left, doubtful(p.Dir, p.Now())...))))
	if p.Elsewhere != nil {
		r.Elsewhere = p.Elsewhere(ctx)
	}
	for _, run := range w.reports {
		path, err := p.Report(ctx, run)
		if err != nil {
			p.Say("the report of run %s cannot be made anew: %v", run, err)
			continue
		}
		r.Reports = append(r.Reports, path)
	}
	return r, nil
}
