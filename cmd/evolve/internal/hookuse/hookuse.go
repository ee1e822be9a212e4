// Package hookuse tells what guards did since they are installed: what they stopped or asked
// about, whether the agent came back with it, and what its user said next.
package hookuse

import (
	"context"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooktest"
	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/hook"
)

// A Report is what guards did in the sessions that may be read: the part "use" of
// `evolve hooks status --json`.
type Report struct {
	Since  time.Time `json:"since"`
	Guards []*Guard  `json:"guards"` // those that stopped most calls first
	// Unnamed are calls that a hook stopped, and nothing recorded tells which.
	Unnamed []Unnamed `json:"unnamed"`
}

// A Guard is one that settings name, or that a transcript or the bus does.
type Guard struct {
	Name      string `json:"name"`
	Agent     string `json:"agent"`
	Command   string `json:"command,omitempty"`
	Installed bool   `json:"installed"` // in the settings that were read

	Since    time.Time `json:"since,omitzero"` // its first decision
	Stopped  int       `json:"stopped"`        // calls
	Sessions int       `json:"sessions"`       // in which it stopped some
	Asked    int       `json:"asked"`          // calls about which it had the user asked
	// Of the stopped calls: the agent came back with the same one, or with another of the same
	// program and subcommand, or on the same file, before the user's next prompt.
	Same      int `json:"same"`
	Rewritten int `json:"rewritten"`
	Ran       int `json:"ran"` // with which it came back, of both
	// Permitted and Refused are by the user's hand: calls that the guard asked about, and
	// those with which the agent came back.
	Permitted int    `json:"permitted"`
	Refused   int    `json:"refused"`
	Calls     []Call `json:"calls"` // the newest first
}

// A Call is one that a guard stopped or had the user asked about. All texts are redacted.
type Call struct {
	Session  string         `json:"session"`
	Time     time.Time      `json:"time,omitzero"`
	Tool     string         `json:"tool,omitempty"`
	What     string         `json:"what,omitempty"` // "" if only the bus tells the call
	Decision guard.Decision `json:"decision"`
	Reason   string         `json:"reason,omitempty"`
	// Known is by what it is known that this guard decided: "command" or "reason", that the
	// transcript has, or "bus".
	Known   string         `json:"known,omitempty"`
	Outcome events.Outcome `json:"outcome,omitempty"`
	Back    *Back          `json:"back,omitempty"`
	// Said are the user's own words after a stopped call, in their next message or refusal, or
	// with their refusal of one that the guard asked about. Whether they object to the guard is
	// for a reader to see.
	Said string `json:"said,omitempty"`

	id string
}

// Back is the call with which the agent came back after one was stopped.
type Back struct {
	How     string         `json:"how"` // "same" or "rewritten"
	Time    time.Time      `json:"time,omitzero"`
	Tool    string         `json:"tool"`
	What    string         `json:"what"`
	Outcome events.Outcome `json:"outcome,omitempty"`

	id string
}

// Unnamed are calls that a hook stopped of which only is known who may have.
type Unnamed struct {
	May   []string `json:"may"` // the guards that are called for them
	Calls []Call   `json:"calls"`
}

// Read reports on the guards in a person's settings and those of the project in the current
// folder; nil if there are none. home is evolve's data folder.
func Read(ctx context.Context, tests hooktest.Parts, home, since string) (*Report, error) {
	installed, err := tests.Installed()
	if err != nil {
		return nil, err
	}
	installed = slices.DeleteFunc(installed, func(g *hooktest.Installed) bool { return hook.Ours(g.Command) })
	if len(installed) == 0 {
		return nil, nil
	}
	records, _, err := hook.Read(home)
	if err != nil {
		return nil, err
	}
	sessions, from, err := tests.Recorded(ctx, since, "", func(e *events.Event) bool {
		return e.Name == events.PreToolUse || e.Name == events.UserPromptSubmit
	})
	if err != nil {
		return nil, err
	}
	r := &reader{red: tests.Redactor(), notes: notesOf(records, from)}
	for _, g := range installed {
		r.guard(g.Name, g.Agent, g.Command, g)
	}
	for _, s := range sessions {
		r.session(s)
	}
	for _, s := range sessions {
		r.left(s)
	}
	return r.report(from), nil
}
