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
)

// A session is one that a person drove, with those of its subagents, in the order of time.
type session struct {
	id     string
	events []events.Event
}

// read rebuilds the events of the sessions in an agent's home that g is called for, the newest
// first. o says which sessions may be read.
func read(ctx context.Context, home backend.Home, o harvest.Options, g *found) (out []*session, problems []harvest.Problem, err error) {
	var mu sync.Mutex
	of := map[string][]events.Event{} // by transcript
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
		found = slices.DeleteFunc(found, func(e events.Event) bool {
			return !g.wants(&e) || !e.Time.IsZero() && e.Time.Before(o.Since)
		})
		mu.Lock()
		defer mu.Unlock()
		of[s.Path] = found
		return s, problems, err
	}
	byID, driven := map[string]*session{}, map[string]bool{}
	problems, err = kind.Source(home.Dir, o).Sessions(ctx, nil, func(s *harvest.Session) error {
		mu.Lock()
		found := of[s.Path]
		delete(of, s.Path)
		mu.Unlock()
		id, _, _ := strings.Cut(s.ID, "/") // of the session whose subagent it is
		if s.Subagent == "" && s.Headless {
			driven[id] = true
		}
		if byID[id] == nil {
			byID[id] = &session{id: id}
		}
		byID[id].events = append(byID[id].events, found...)
		return nil
	})
	for id, s := range byID {
		if driven[id] || len(s.events) == 0 {
			continue
		}
		slices.SortStableFunc(s.events, func(a, b events.Event) int { return a.Time.Compare(b.Time) })
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *session) int {
		if byTime := b.events[0].Time.Compare(a.events[0].Time); byTime != 0 {
			return byTime
		}
		return strings.Compare(a.id, b.id)
	})
	return out, problems, err
}

// label is what should have happened. What a refusal's words say needs a reader; none has read
// them yet.
func label(e *events.Event) guard.Label {
	if e.Outcome == events.Permitted {
		return guard.Go
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
