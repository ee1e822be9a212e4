package hooktest

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/eval/guard"
	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/refusals"
)

// A Session is one that a person drove, with those of its subagents, in the order of time.
type Session struct {
	Agent   string
	ID      string
	CWD     string   // the folder in which it began
	Folders []string // in which it worked
	First   time.Time
	Last    time.Time
	Events  []events.Event   // that are wanted
	Calls   []events.Event   // all tool calls, before they ran
	Refused []*refusals.Call // of these, what was refused with words
	told    map[string]Told  // of calls, by their ids
	copies  string           // the session of whose calls it has copies, if that has no transcript any more
}

// A transcript is a session's, or of one of its subagents.
type transcript struct {
	wanted, calls []events.Event
	refused       []*refusals.Call
}

// read rebuilds the events of the sessions in an agent's home that are wanted, the newest
// first. o says which sessions may be read.
func read(ctx context.Context, home backend.Home, o harvest.Options, wants func(*events.Event) bool) (out []*Session, problems []harvest.Problem, err error) {
	var mu sync.Mutex
	of := map[string]*transcript{}
	kind, rebuild := home.Kind, events.Rebuild[home.Agent]
	kind.Read = func(ctx context.Context, r io.Reader, file string, o harvest.Options) (*harvest.Session, []harvest.Problem, error) {
		s, problems, err := home.Read(ctx, r, file, o)
		if err != nil || s == nil || o.Again == nil {
			return s, problems, err
		}
		again, err := o.Again()
		if err != nil {
			return s, append(problems, harvest.Problem{Path: file, Reason: "it cannot be read again"}), nil
		}
		defer again.Close()
		found, _, err := rebuild(ctx, again, file) // its problems are those above
		found = slices.DeleteFunc(found, func(e events.Event) bool { return !e.Time.IsZero() && e.Time.Before(o.Since) })
		one := &transcript{refused: refusals.Of(home.Agent, mainOf(s.ID), found, o.Redactor)}
		for _, e := range found {
			if wants(&e) {
				one.wanted = append(one.wanted, e)
			}
			if e.Name == events.PreToolUse {
				one.calls = append(one.calls, e)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		of[s.Path] = one
		return s, problems, err
	}
	byID, driven := map[string]*Session{}, map[string]bool{}
	problems, err = kind.Source(home.Dir, o).Sessions(ctx, nil, func(s *harvest.Session) error {
		mu.Lock()
		found := of[s.Path]
		delete(of, s.Path)
		mu.Unlock()
		id := mainOf(s.ID)
		if s.Subagent == "" && s.Headless {
			driven[id] = true
		}
		if byID[id] == nil {
			byID[id] = &Session{Agent: home.Agent, ID: id}
		}
		byID[id].add(s, found)
		return nil
	})
	for id, s := range byID {
		if !driven[id] {
			out = append(out, s)
		}
	}
	once(out)
	out = slices.DeleteFunc(out, func(s *Session) bool { return len(s.Events)+len(s.Calls) == 0 })
	slices.SortFunc(out, func(a, b *Session) int { return cmp.Or(b.Began().Compare(a.Began()), strings.Compare(a.ID, b.ID)) })
	return out, problems, err
}

// add adds a transcript.
func (s *Session) add(of *harvest.Session, found *transcript) {
	for _, dir := range of.Folders {
		if !slices.Contains(s.Folders, dir) {
			s.Folders = append(s.Folders, dir)
		}
	}
	if of.Subagent == "" {
		s.CWD, s.First, s.Last = of.CWD, of.Started, of.Ended
	}
	if found != nil {
		s.Events, s.Calls, s.Refused = append(s.Events, found.wanted...), append(s.Calls, found.calls...), append(s.Refused, found.refused...)
	}
}

// Began is when the first of its wanted events took place, or else its first call.
func (s *Session) Began() time.Time {
	if len(s.Events) > 0 {
		return s.Events[0].Time
	}
	return s.Calls[0].Time
}

// once orders the events of sessions, and leaves each in one of them: another transcript with it
// is a copy, of a session that was moved, resumed or forked, and tells nothing anew.
func once(sessions []*Session) {
	slices.SortFunc(sessions, func(a, b *Session) int { return cmp.Or(a.First.Compare(b.First), strings.Compare(a.ID, b.ID)) })
	wanted, calls, refused := map[told]bool{}, map[told]bool{}, map[told]bool{}
	for _, s := range sessions {
		for _, of := range []struct {
			seen   map[told]bool
			events *[]events.Event
		}{{wanted, &s.Events}, {calls, &s.Calls}} {
			*of.events = slices.DeleteFunc(*of.events, func(e events.Event) bool { return again(of.seen, keyOf(&e)) })
			slices.SortStableFunc(*of.events, func(a, b events.Event) int { return a.Time.Compare(b.Time) })
		}
		s.Refused = slices.DeleteFunc(s.Refused, func(c *refusals.Call) bool { return again(refused, told{call: c.ID, at: c.Time.UTC()}) })
	}
}

// again reports whether an event was seen before. One without an id and a time is always new.
func again(seen map[told]bool, key told) bool {
	was := seen[key]
	seen[key] = key.call != "" || !key.at.IsZero()
	return was
}

// told is what tells an event of an agent from its others.
type told struct {
	name, call, what string
	at               time.Time
}

func keyOf(e *events.Event) told {
	key := told{name: e.Name, call: refusals.ID(e), at: e.Time.UTC()}
	if key.call == "" {
		key.what = what(e)
	}
	return key
}

// mainOf is the session whose subagent wrote a transcript; a session that is none's is its own.
func mainOf(id string) string {
	id, _, _ = strings.Cut(id, "/")
	return id
}

// A Call is an event that is shown.
type Call struct {
	Session  string         `json:"session"`
	Time     time.Time      `json:"time,omitzero"`
	Event    string         `json:"event"`
	Tool     string         `json:"tool,omitempty"`
	What     string         `json:"what"` // its command, file or text, redacted
	Outcome  events.Outcome `json:"outcome,omitempty"`
	Label    guard.Label    `json:"label,omitempty"`
	Words    string         `json:"words,omitempty"` // of its user, redacted
	Decision guard.Decision `json:"decision"`
	Reason   string         `json:"reason,omitempty"`
	Second   string         `json:"second,omitempty"`
}

// what is the part of an event's input that a person tells it by.
func what(e *events.Event) string {
	var in struct {
		Prompt  string
		Answer  string          `json:"last_assistant_message"`
		Input   json.RawMessage `json:"tool_input"`
		Command struct {
			Command string
			File    string `json:"file_path"`
			Note    string `json:"notebook_path"`
		} `json:"-"`
	}
	_ = json.Unmarshal(e.Input, &in) // ours
	_ = json.Unmarshal(in.Input, &in.Command)
	for _, text := range []string{in.Command.Command, in.Command.File, in.Command.Note, string(in.Input), in.Prompt, in.Answer} {
		if text != "" {
			return text
		}
	}
	return ""
}
