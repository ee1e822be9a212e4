// Package refusals has a model read, twice, why people refused tool calls: most refusals are a
// matter of time, and only words that name a rule make a call one that a guard should stop.
package refusals

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/events"
	"github.com/skill-evolve/evolve/harvest/ownwords"
	"github.com/skill-evolve/evolve/harvest/redact"
)

const (
	maxSaid  = 600 // characters of what was said
	maxField = 300 // of each text in a call's input
	maxInput = 900 // of all of it
)

// A Call is one that its user refused and said something about.
type Call struct {
	Agent   string
	Session string
	ID      string // the call's own
	Tool    string
	Input   json.RawMessage // of the tool, as it was
	Said    string          // redacted
	Time    time.Time
	// Label is what both readings say; nil if they do not, or if nobody has read it.
	Label *Label

	own  string // what the person typed of Said
	seen shown
	id   [readings]string // in the prompt
	key  [readings]string // of the reply
}

// A Label says that a call was refused for a rule.
type Label struct {
	Rule  string `json:"rule"`  // in a model's words
	Words string `json:"words"` // the user's own that name it
}

// A shown call is what a model sees of it.
type shown struct {
	Tool   string   `json:"tool"`
	Input  string   `json:"input"`
	Said   string   `json:"said"`
	Pasted []string `json:"pasted,omitempty"`
}

// input is the part of an event that a refusal needs.
type input struct {
	Prompt string
	ID     string          `json:"tool_use_id"`
	Tool   json.RawMessage `json:"tool_input"`
}

// ID is the id of a tool call's event.
func ID(e *events.Event) string {
	var in input
	_ = json.Unmarshal(e.Input, &in) // ours
	return cmp.Or(in.ID, e.Call)
}

// Input is what the tool of a call's event got.
func Input(e *events.Event) json.RawMessage {
	var in input
	_ = json.Unmarshal(e.Input, &in) // ours
	return in.Tool
}

// Of are the refused calls among the events of one transcript, in their order. A user who said
// nothing when they refused a call said it in their next message, if the agent did nothing else
// before.
func Of(agent, session string, all []events.Event, red redact.Redactor) (out []*Call) {
	var open []*Call // nothing was said of these yet
	for i := range all {
		e := &all[i]
		switch {
		case e.Name == events.PreToolUse && e.Outcome == events.Refused:
			var in input
			_ = json.Unmarshal(e.Input, &in) // ours
			c := &Call{Agent: agent, Session: session, ID: ID(e), Tool: e.Tool, Input: in.Tool, Said: e.Words, Time: e.Time}
			if strings.TrimSpace(c.Said) == "" {
				open = append(open, c)
				continue
			}
			out = append(out, c)
		case e.Name == events.PreToolUse && e.Outcome == events.Unknown: // beside a refused one
		case e.Name == events.UserPromptSubmit:
			var in input
			_ = json.Unmarshal(e.Input, &in) // ours
			for _, c := range open {
				if !harvest.Injected(in.Prompt) {
					c.Said = in.Prompt
					out = append(out, c)
				}
			}
			open = nil
		default:
			open = nil
		}
	}
	out = slices.DeleteFunc(out, func(c *Call) bool { return !c.show(red) })
	slices.SortStableFunc(out, func(a, b *Call) int { return a.Time.Compare(b.Time) })
	return out
}

// show sets what a model sees, redacted before it is cut: a half secret is no pattern's. It
// reports whether the user typed anything.
func (c *Call) show(red redact.Redactor) bool {
	c.Said, _ = harvest.Clean(red, c.Said)
	said, pasted := harvest.Unpasted(c.Said, maxSaid)
	c.own = ownwords.Of(said)
	if strings.TrimSpace(c.own) == "" || c.ID == "" {
		return false
	}
	c.seen = shown{Tool: harvest.Head(c.Tool, 64), Input: Brief(c.Input, red), Said: said, Pasted: pasted}
	for i := range c.key { // without the session: a fork has the same call
		data, err := json.Marshal([]any{"refusal/2", system, i, c.Agent, c.ID, c.seen})
		if err != nil {
			panic(err) // texts can be marshalled
		}
		sum := sha256.Sum256(data)
		// The id depends on all that is shown, so no text in it can know it.
		c.key[i], c.id[i] = hex.EncodeToString(sum[:]), hex.EncodeToString(sum[:4])
	}
	return true
}

// Brief is the input of a tool without most of its long texts, redacted before it is cut.
func Brief(raw json.RawMessage, red redact.Redactor) string {
	var fields map[string]any
	if json.Unmarshal(raw, &fields) != nil {
		clean, _ := harvest.Clean(red, string(raw))
		return harvest.Head(clean, maxInput)
	}
	for name, v := range fields {
		if text, ok := v.(string); ok {
			text, _ = harvest.Clean(red, text)
			fields[name] = harvest.Head(text, maxField)
		}
	}
	data, err := json.Marshal(fields)
	if err != nil {
		panic(err) // it came from JSON
	}
	clean, _ := harvest.Clean(red, string(data)) // what is in lists
	return harvest.Head(clean, maxInput)
}
