package kit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// TempPrefix begins the names of files that are not complete.
const TempPrefix = ".tmp-"

// WriteFile replaces a small file as a whole. It is not synced, because the agent waits,
// and what a power cut destroys will be written again.
func WriteFile(path string, b []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), TempPrefix)
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}

// Sweep removes incomplete files in dir that were begun before old.
func Sweep(dir string, old time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), TempPrefix) && info.ModTime().Before(old) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

const (
	maxLog     = 256 << 10 // bytes of a log at which a new one is begun; the previous one is kept
	maxMessage = 1000      // bytes of a line of a log
	cut        = " […]"    // what is longer
)

// Log writes text as one line, behind its time, to logs/NAME.log in home.
func Log(home, name string, at time.Time, text string) error {
	path := filepath.Join(home, "logs", name+".log")
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".1")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	_, err = fmt.Fprintf(f, "%s %s\n", at.UTC().Format(time.RFC3339), message(text, maxMessage))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	return nil
}

// message is text on one line of a log, of no more than most bytes and a mark.
func message(text string, most int) string {
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + cut
	}
	return strings.Join(strings.Fields(text), " ")
}
