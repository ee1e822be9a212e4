package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/guard/rulefile"
	"github.com/skill-evolve/evolve/harvest/hook/kit"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// guard answers by a rule file. A file that is no valid one stops nothing, and its log says so:
// a person would not see that the guard is off.
func (k *program) guard(file string) (code int, err error) {
	e := k.event()
	if e == nil {
		return kit.Go, nil
	}
	f, err := read(file)
	if err != nil {
		k.note(e, strings.TrimSuffix(filepath.Base(file), ".json"), err.Error())
		return kit.Failed, err
	}
	name := strings.TrimSuffix(filepath.Base(file), ".json")
	r, err := k.find(f, e, name)
	if err != nil {
		k.note(e, name, err.Error())
		if r = f.Find(k.call(e), nil); r == nil { // what needs no state holds without one
			return kit.Failed, err
		}
	}
	if r != nil {
		fmt.Fprintln(k.stderr, r.Say) // what is stopped is stopped even if nobody reads why
		return kit.Stop, nil
	}
	return kit.Go, nil
}

// A session's state begins with this in its name, and is kept for so long after its last change.
const (
	ofSession = "session-"
	kept      = 30 * 24 * time.Hour
)

// find is the rule that stops an event, nil if none does. Only a file with orders keeps a state.
func (k *program) find(f *rulefile.File, e *kit.Event, name string) (r *rulefile.Rule, err error) {
	c := k.call(e)
	if !f.Orders() {
		return f.Find(c, nil), nil
	}
	h, err := k.named(e, name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(e.Session))
	err = h.Change(ofSession+hex.EncodeToString(sum[:12]), func(before string) string {
		var s rulefile.State
		if json.Unmarshal([]byte(before), &s) != nil && before == "" {
			h.Forget(ofSession, kept)
		}
		r = f.Find(c, &s)
		after, err := json.Marshal(s)
		if err != nil || before == "" && len(s.Waits) == 0 {
			return before
		}
		return string(after)
	})
	return r, err
}

func read(file string) (*rulefile.File, error) {
	text, err := bounded.ReadFile(file, rulefile.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	f, err := rulefile.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("guard: %s: %w", file, err)
	}
	return f, nil
}

// call is what rules see of an event. Their paths begin at the project if the agent names it and
// works in it, because a shell's cd moves the folder of the event.
func (k *program) call(e *kit.Event) *rulefile.Call {
	if e.Name == rulefile.Stop {
		return &rulefile.Call{Event: e.Name, Again: e.Field("stop_hook_active") == "true"}
	}
	c := &rulefile.Call{Tool: e.Field("tool_name"), Command: e.Field("tool_input.command"), File: e.Field("tool_input.file_path"), Root: e.Field("cwd")}
	if c.File == "" {
		c.File = e.Field("tool_input.notebook_path")
	}
	if c.File != "" && !filepath.IsAbs(c.File) {
		c.File = filepath.Join(c.Root, c.File)
	}
	project := filepath.Clean(k.getenv("CLAUDE_PROJECT_DIR"))
	if below, err := filepath.Rel(project, c.Root); err == nil && below != ".." && !strings.HasPrefix(below, "../") && filepath.IsAbs(project) {
		c.Root = project
	}
	return c
}
