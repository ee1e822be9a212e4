package main

import (
	"testing"

	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/sleep/work"
)

// nightWork is what a night of this command works with.
func nightWork(t *testing.T, a *global, db *store.Store) *work.Worker {
	t.Helper()
	s, err := nightWorker(t.Context(), a, db, &runFlags{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
