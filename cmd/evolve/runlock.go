package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// A run is walked by one process at a time: two would each pay for what the
// other has not recorded yet. The lock is the system's, so that a process that
// was killed leaves none behind.

// lockRun takes the lock of a run; unlock gives it back.
func (a *app) lockRun(id string) (unlock func(), err error) {
	h, err := a.home()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(h, "running"), 0o700); err != nil {
		return nil, fmt.Errorf("lock run %s: %w", id, err)
	}
	path := filepath.Join(h, "running", id)
	l := flock.New(path, flock.SetPermissions(fileMode))
	if got, err := l.TryLock(); err != nil {
		return nil, fmt.Errorf("lock run %s: %w", id, err)
	} else if !got {
		return nil, errBusy(id)
	}
	return func() {
		os.Remove(path) // nobody waits for it: a second process does not wait
		l.Close()
	}, nil
}

func errBusy(id string) error {
	return &failure{exitFailed, fmt.Errorf("another process is at work on run %s", id), "wait for it, or stop it first"}
}

// running reports whether a process is at work on a run.
func (a *app) running(id string) (bool, error) {
	h, err := a.home()
	if err != nil {
		return false, err
	}
	path := filepath.Join(h, "running", id)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	l := flock.New(path, flock.SetPermissions(fileMode))
	got, err := l.TryLock()
	if err != nil {
		return false, fmt.Errorf("look at run %s: %w", id, err)
	}
	return !got, l.Close()
}
