package hooktest

import (
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
	CWD     string           // the folder in which it began
	Events  []events.Event   // that are wanted
	Refused []*refusals.Call // all calls that were refused with words
}

// A transcript is a session's, or of one of its subagents.
type transcript struct {
	events  []events.Event // that are wanted
	refused []*refusals.Call
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
		one.events = slices.DeleteFunc(found, func(e events.Event) bool { return !wants(&e) })
		mu.Lock()
		defer mu.Unlock()
		of[s.Path] = one
		return s, problems, err
	}
	byID, driven, seen := map[string]*Session{}, map[string]bool{}, map[string]map[told]bool{}
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
		if s.Subagent == "" {
			byID[id].CWD = s.CWD
		}
		if found != nil {
			// A copy of a transcript tells nothing anew.
			more := slices.DeleteFunc(found.events, func(e events.Event) bool { return seen[id][keyOf(&e)] })
			if seen[id] == nil {
				seen[id] = map[told]bool{}
			}
			for i := range more {
				if key := keyOf(&more[i]); key.call != "" || !key.at.IsZero() {
					seen[id][key] = true
				}
			}
			byID[id].Events = append(byID[id].Events, more...)
			byID[id].Refused = append(byID[id].Refused, found.refused...)
		}
		return nil
	})
	for id, s := range byID {
		if driven[id] || len(s.Events) == 0 {
			continue
		}
		slices.SortStableFunc(s.Events, func(a, b events.Event) int { return a.Time.Compare(b.Time) })
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *Session) int {
		if byTime := b.Events[0].Time.Compare(a.Events[0].Time); byTime != 0 {
			return byTime
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out, problems, err
}

// told is what tells an event of a session from its others.
type told struct {
	name, call string
	at         time.Time
}

func keyOf(e *events.Event) told { return told{e.Name, refusals.ID(e), e.Time.UTC()} }

// mainOf is the session whose subagent wrote a transcript; a session that is none's is its own.
func mainOf(id string) string {
	id, _, _ = strings.Cut(id, "/")
	return id
}

// labels are the calls that were refused for a rule, as a model has read twice; read: some
// refusals were.
func labels(ctx context.Context, memory harvest.Memory, sessions []*Session) (stop map[labelled]bool, read bool, err error) {
	stop = map[labelled]bool{}
	var all []*refusals.Call
	for _, s := range sessions {
		all = append(all, s.Refused...)
	}
	r := refusals.Reader{Memory: memory}
	stats, err := r.Read(ctx, all)
	for _, c := range all {
		if c.Label != nil {
			stop[labelled{c.Agent, c.Session, c.ID}] = true
		}
	}
	return stop, stats.Read > 0, err
}

type labelled struct{ agent, session, call string }

// label is what should have happened.
func (r *Result) label(s *Session, e *events.Event) guard.Label {
	switch {
	case e.Outcome == events.Permitted:
		return guard.Go
	case e.Outcome == events.Refused && r.stop[labelled{s.Agent, s.ID, refusals.ID(e)}]:
		return guard.Stop
	}
	return guard.Unlabelled
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
	Words    string         `json:"words,omitempty"` // of a refusal, redacted
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
