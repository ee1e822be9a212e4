package main

import (
	"context"

	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/lock"
)

// locks are those of the data folder.
func (a *global) locks() (lock.Locks, error) {
	h, err := a.home()
	return lock.Locks{Dir: h, Now: a.Now}, err
}

// lockRun takes the lock of a run; unlock releases it. A command that works on a copy of
// the database needs no lock: no other process writes to the copy.
func lockRun(a *global, id string) (unlock func(), err error) {
	if a.access != datadir.Writes {
		return func() {}, nil
	}
	k, err := a.locks()
	if err != nil {
		return nil, err
	}
	return k.Run(context.Background(), id, nil)
}

// isRunning reports whether a process is at work on a run.
func isRunning(a *global, id string) (bool, error) {
	k, err := a.locks()
	if err != nil {
		return false, err
	}
	return k.Running(id)
}
