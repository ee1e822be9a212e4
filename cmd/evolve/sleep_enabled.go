package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/google/renameio/v2"
)

// enabled reports whether the system starts the timer: a unit's files alone do
// nothing.
func (t *timer) enabled(ctx context.Context) bool {
	return t.kind != timerSystemd || call(ctx, "systemctl", "--user", "is-enabled", unitName+".timer") == nil
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
		return all
	}, nil
}
