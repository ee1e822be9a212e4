package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// tempPrefix begins the names of files that are not complete.
const tempPrefix = ".tmp-"

// writeState replaces a small file as a whole. It is not synced, because the agent
// waits, and what a power cut destroys will be written again.
func writeState(path string, v any) (err error) {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix)
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	_, err = f.Write(append(b, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}

// sweep removes incomplete files in dir that were begun before old.
func sweep(dir string, old time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), tempPrefix) && info.ModTime().Before(old) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// maxLog is the size of a log, in bytes, at which a new one is begun; the previous one
// is kept.
const maxLog = 256 << 10

// log writes one line to logs/<event>.log. If that fails too, there is no way to report
// it.
func (h *Host) log(event, what string) {
	if !slices.Contains(Events, event) && event != "guard" {
		event = "unknown"
	}
	path := filepath.Join(h.Home, "logs", event+".log")
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".1")
	}
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = fmt.Fprintf(f, "%s %s\n", h.now().UTC().Format(time.RFC3339), strings.Join(strings.Fields(clip(h.clean(what), 1000)), " "))
}

// An output is what Claude Code reads from a hook's stdout.
type output struct {
	Message  string    `json:"systemMessage,omitempty"`
	Specific *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event   string `json:"hookEventName"`
	Context string `json:"additionalContext"`
}

// write prints r as one line of JSON; nothing if r is empty.
func (r reply) write(event string, w io.Writer) error {
	if r.message == "" && r.context == "" {
		return nil
	}
	out := output{Message: r.message}
	if r.context != "" {
		out.Specific = &specific{event, r.context}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(out); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}
