package timer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// The names of the files that an installation writes. Uninstall removes these
// and nothing else.
const (
	unitName  = "evolve-sleep"
	agentName = "org.skill-evolve.sleep"
	cronMark  = "# evolve sleep: written by `evolve sleep install`"
)

// A File is one file of a timer.
type File struct{ Path, Content string }

// files are the files of a kind of timer; cron has none.
func (s *System) files(t *Timer) ([]File, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("find the home folder: %w", err)
	}
	switch t.Kind {
	case Systemd:
		conf := s.ConfigHome
		if !filepath.IsAbs(conf) {
			conf = filepath.Join(home, ".config")
		}
		dir := filepath.Join(conf, "systemd", "user")
		return []File{{filepath.Join(dir, unitName+".service"), t.fill(serviceUnit)}, {filepath.Join(dir, unitName+".timer"), t.fill(timerUnit)}}, nil
	case Launchd:
		return []File{{filepath.Join(home, "Library", "LaunchAgents", agentName+".plist"), t.fill(launchAgent)}}, nil
	}
	return nil, nil
}

// ours reports whether evolve wrote a timer's file.
func ours(text []byte) bool {
	return bytes.Contains(text, []byte("Written by `evolve sleep install`")) || bytes.Contains(text, []byte("Written by evolve sleep install."))
}

// dropWanted removes the link by which systemd starts the timer, if systemd
// could not be asked to. The link is beside unit, one of the timer's files.
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

// keepFiles reads the files that will be overwritten; the function that it
// returns restores them, and removes those that were not there.
func keepFiles(files []File) (putBack func() error, err error) {
	was := make([][]byte, len(files))
	for i, f := range files {
		if was[i], err = os.ReadFile(f.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read timer: %w", err)
		}
	}
	return func() error {
		var all error
		for i, f := range files {
			var err error
			if was[i] != nil {
				err = renameio.WriteFile(f.Path, was[i], 0o644)
			} else if err = os.Remove(f.Path); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			all = errors.Join(all, err)
		}
		if len(files) > 0 && was[0] == nil {
			all = errors.Join(all, dropWanted(files[0].Path)) // it was enabled, and could not be started
		}
		return all
	}, nil
}

// unchanged reports whether files are in their places already.
func unchanged(files []File) (bool, error) {
	for _, f := range files {
		have, err := os.ReadFile(f.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		} else if err != nil {
			return false, fmt.Errorf("read timer: %w", err)
		}
		if string(have) != f.Content {
			return false, nil
		}
	}
	return true, nil
}
