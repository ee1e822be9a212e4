package ingest

import (
	"context"
	"sync"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/store"
)

// A sessionWriter passes sessions to the store without waiting for each: those that are
// in progress together are committed together, with one fsync.
type sessionWriter struct {
	db    *store.Store
	slots chan struct{} // bounds how many sessions are held in memory
	wg    sync.WaitGroup

	mu   sync.Mutex
	kept map[string]bool // paths of sessions that were saved
	lost map[string]bool // paths of those that were not
	err  error           // the first
}

// maxUnderWay is how many sessions are on their way into the store at once.
const maxUnderWay = 64

func newSessionWriter(db *store.Store) *sessionWriter {
	return &sessionWriter{db: db, slots: make(chan struct{}, maxUnderWay), kept: map[string]bool{}, lost: map[string]bool{}}
}

// save stores s. The error may be that of an earlier session.
func (w *sessionWriter) save(ctx context.Context, s *harvest.Session) error {
	w.mu.Lock()
	err := w.err
	w.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case w.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	w.wg.Go(func() {
		defer func() { <-w.slots }()
		err := eval.Shielded(func() error { return w.db.SaveSession(ctx, s) })
		w.mu.Lock()
		defer w.mu.Unlock()
		if err == nil {
			w.kept[s.Path] = true
			return
		}
		w.lost[s.Path] = true
		if w.err == nil {
			w.err = err
		}
	})
	return nil
}

// wait returns once every session is saved or lost, with the first error. Only
// then may kept and lost be read.
func (w *sessionWriter) wait() error {
	w.wg.Wait()
	return w.err
}
