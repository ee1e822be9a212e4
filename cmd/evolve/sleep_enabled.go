package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// enabled reports whether the system starts the timer: a unit's files alone do
// nothing. The error is that nobody could say.
func (t *timer) enabled(ctx context.Context) (bool, error) {
	if t.kind != timerSystemd {
		return true, nil
	}
	err := call(ctx, askWait, "systemctl", "--user", "is-enabled", unitName+".timer")
	if exit, ok := errors.AsType[exitError](err); ok && exit > 0 {
		return false, nil
	}
	return err == nil, err
}

// timerText reports whether install wrote a timer's file.
func timerText(text []byte) bool {
	return bytes.Contains(text, []byte("Written by `evolve sleep install`")) || bytes.Contains(text, []byte("Written by evolve sleep install."))
}

// dropWanted removes the link by which systemd starts the timer, where systemd
// itself could not be asked to: beside unit, one of its files.
func dropWanted(unit string) error {
	link := filepath.Join(filepath.Dir(unit), "timers.target.wants", unitName+".timer")
	if to, err := os.Readlink(link); err != nil || filepath.Base(to) != unitName+".timer" {
		return nil // nothing is there, or nothing that systemd has made
	}
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// keepFiles reads what is in the place of files; the function that it returns puts
// that back, and takes away what was not there.
func keepFiles(files []timerFile) (putBack func() error, err error) {
	was := make([][]byte, len(files))
	for i, f := range files {
		if was[i], err = os.ReadFile(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read timer: %w", err)
		}
	}
	return func() error {
		var all error
		for i, f := range files {
			var err error
			if was[i] != nil {
				err = renameio.WriteFile(f.path, was[i], 0o644)
			} else if err = os.Remove(f.path); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			all = errors.Join(all, err)
		}
		if len(files) > 0 && was[0] == nil {
			all = errors.Join(all, dropWanted(files[0].path)) // it was enabled, and could not be started
		}
		return all
	}, nil
}
