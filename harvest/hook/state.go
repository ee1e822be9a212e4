package hook

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/skill-evolve/evolve/harvest/hook/kit"
)

// writeState replaces a small file as a whole.
func writeState(path string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return kit.WriteFile(path, append(b, '\n'))
}

// log writes one line to logs/<event>.log. If that fails too, there is no way to report
// it.
func (h *Host) log(event, what string) {
	if !slices.Contains(Events, event) && event != "guard" {
		event = "unknown"
	}
	_ = kit.Log(h.Home, event, h.now(), h.clean(what))
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
