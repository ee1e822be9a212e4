package main

import (
	"context"
	"sync"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/store"
)

// A saving hands sessions to the store without waiting for each: those that are
// under way together are committed together, with one fsync.
type saving struct {
	db    *store.Store
	slots chan struct{} // bounds how many sessions are held in memory
	wg    sync.WaitGroup

	mu   sync.Mutex
	kept map[string]bool // paths of sessions that were saved
	lost map[string]bool // paths of those that were not
	err  error           // the first
}

// maxSaving is how many sessions are on their way into the store at once.
const maxSaving = 64

func newSaving(db *store.Store) *saving {
	return &saving{db: db, slots: make(chan struct{}, maxSaving), kept: map[string]bool{}, lost: map[string]bool{}}
}

// save takes s over. The error may be that of a session before it.
func (sv *saving) save(ctx context.Context, s *harvest.Session) error {
	sv.mu.Lock()
	err := sv.err
	sv.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case sv.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	sv.wg.Go(func() {
		defer func() { <-sv.slots }()
		err := eval.Shielded(func() error { return sv.db.SaveSession(ctx, s) })
		sv.mu.Lock()
		defer sv.mu.Unlock()
		if err == nil {
			sv.kept[s.Path] = true
			return
		}
		sv.lost[s.Path] = true
		if sv.err == nil {
			sv.err = err
		}
	})
	return nil
}

// wait returns once every session is saved or lost, with the first error. Only
// then may kept and lost be read.
func (sv *saving) wait() error {
	sv.wg.Wait()
	return sv.err
}
