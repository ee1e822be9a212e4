// Package settings puts evolve's hooks into a settings.json and takes them out again,
// and writes what these hooks announce and which texts they do not load.
package settings

import (
	"errors"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store/datadir"
)

// An Editor edits settings files. A copy of each text that it replaces is kept in Dir.
type Editor struct {
	Dir datadir.Dir
	Now func() time.Time
}

// An Edit is what an Editor did to a file: schema 1.
type Edit struct {
	Schema  int      `json:"schema"`
	Path    string   `json:"path"`
	Changed bool     `json:"changed"`
	Events  []string `json:"events"`           // that have a hook now
	Backup  string   `json:"backup,omitempty"` // the copy of the text before, "" for none
}

// Install adds the hooks to the settings at path. program is evolve as a shell calls
// it.
func (e *Editor) Install(path, program string) (*Edit, error) {
	return e.edit(path, func(text []byte, _ *record) ([]byte, error) { return hook.Add(text, program) })
}

// Uninstall removes the hooks from the settings at path. A file that was not changed
// since Install becomes what it was, to the byte.
func (e *Editor) Uninstall(path string) (*Edit, error) {
	r, err := e.edit(path, func(text []byte, was *record) ([]byte, error) {
		if was != nil && skill.HashText(text) == was.After {
			return was.Before, nil
		}
		var before []byte
		if was != nil {
			before = was.Before
		}
		return hook.Remove(text, before)
	})
	if err != nil {
		return nil, err
	}
	r.Events = []string{}
	if r.Changed {
		if err := e.forget(path); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// A State reports whether hooks are installed, and what they have recorded: schema 1.
type State struct {
	Schema  int      `json:"schema"`
	Path    string   `json:"path"`
	State   string   `json:"state"`  // "installed", "incomplete", "elsewhere", "off", "none"
	Events  []string `json:"events"` // with a hook
	Missing []string `json:"missing"`
	Command string   `json:"command,omitempty"` // of the first
	Noted   int      `json:"noted"`             // records on the bus
	Last    string   `json:"last,omitempty"`    // time of the newest
	Queued  int      `json:"queued"`            // transcripts that wait for a harvest
	Notes   int      `json:"notes"`             // to be announced at the next session
	// Unwritable is why hooks can write nothing; they report it nowhere else.
	Unwritable string `json:"unwritable,omitempty"`
}

// State reads the settings at path and what their hooks have left in the data folder.
func (e *Editor) State(path, program string) (*State, error) {
	text, _, err := readFile(path)
	if err != nil {
		return nil, err
	}
	commands, off, err := hook.Hooked(text)
	var bad *hook.SettingsError
	if errors.As(err, &bad) {
		return nil, problem.Inputf(bad.Hint, "%s: %s", path, bad.Reason)
	}
	if err != nil {
		return nil, err
	}
	s := &State{Schema: 1, Path: path, State: "installed", Events: []string{}, Missing: []string{}}
	for _, event := range hook.Events {
		if len(commands[event]) == 0 {
			s.Missing = append(s.Missing, event)
			continue
		}
		s.Events = append(s.Events, event)
		if s.Command == "" {
			s.Command = commands[event][0]
		}
		if !slices.Equal(commands[event], []string{program + " hook " + event}) {
			s.State = "elsewhere"
		}
	}
	switch {
	case len(s.Events) == 0:
		s.State = "none"
	case off:
		s.State = "off"
	case len(s.Missing) > 0:
		s.State = "incomplete"
	}
	return s, e.noted(s)
}

// noted counts the hooks' files in the data folder.
func (e *Editor) noted(s *State) error {
	home := string(e.Dir)
	if err := hook.Writable(home); err != nil {
		s.Unwritable = err.Error()
	}
	records, _, err := hook.Read(home)
	if err != nil {
		return err
	}
	for _, r := range records {
		if !r.OfUse() {
			continue
		}
		s.Noted++
		s.Last = max(s.Last, r.Event.Timestamp)
	}
	queue, err := hook.Queue(home)
	if err != nil {
		return err
	}
	notes, err := hook.Notes(home)
	s.Queued, s.Notes = len(queue), len(notes)
	return err
}
