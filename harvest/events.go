package harvest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// EventsVersion is the version of the skill events that Events writes.
const EventsVersion = 1

// A Sidecar is the record of a session's skill invocations as Entire's CLI
// writes it beside a transcript. Version is absent if there are no events.
type Sidecar struct {
	Version int     `json:"skill_events_version,omitempty"`
	Events  []Event `json:"skill_events,omitempty"`
}

// An Event is one invocation of a skill (skill events version 1).
type Event struct {
	ID        string            `json:"id,omitempty"`
	EventType string            `json:"event_type"` // "tool_invocation" or "prompt_invocation"
	Skill     EventSkill        `json:"skill"`
	Source    EventSource       `json:"source"`
	TurnID    string            `json:"turn_id,omitempty"`
	Timestamp string            `json:"timestamp,omitempty"` // RFC 3339
	Anchor    *Anchor           `json:"transcript_anchor,omitempty"`
	Native    map[string]string `json:"native,omitempty"`
	Collapse  Collapse          `json:"collapse"`
}

// EventSkill names the skill.
type EventSkill struct {
	Name string `json:"name"`
}

// EventSource describes how the invocation was recognised.
type EventSource struct {
	Agent      string `json:"agent"`
	Signal     Signal `json:"signal"`
	Confidence string `json:"confidence"` // "explicit", or evolve's own "inferred"
}

// An Anchor is the place in the transcript: lines [Start, End), 0-based. Every
// field is left out when zero, so an absent start is line 0.
type Anchor struct {
	Unit      string   `json:"unit,omitempty"`
	Start     int      `json:"start,omitempty"`
	End       int      `json:"end,omitempty"`
	EntryIDs  []string `json:"entry_ids,omitempty"`
	ToolUseID string   `json:"tool_use_id,omitempty"`
}

// Collapse tells a viewer how to fold the invocation.
type Collapse struct {
	Target    string `json:"target"` // "tool_pair" or "user_message"
	Label     string `json:"label"`
	Collapsed bool   `json:"default_collapsed"`
}

// Events returns the invocations of s as skill events, inferred ones included.
func Events(s *Session) Sidecar {
	var out Sidecar
	for _, v := range s.Invocations {
		out.Events = append(out.Events, event(s, v))
	}
	if len(out.Events) > 0 {
		out.Version = EventsVersion
	}
	return out
}

// ForEntire returns the part of c that fits a sidecar of Entire's: signals of its
// vocabulary only, and nothing inferred.
func (c Sidecar) ForEntire() Sidecar {
	var out Sidecar
	for _, e := range c.Events {
		switch e.Source.Signal {
		case SkillToolUse, PromptSlashCommand, InputSlashCommand:
			if e.Source.Confidence == "explicit" {
				out.Version, out.Events = EventsVersion, append(out.Events, e)
			}
		}
	}
	return out
}

func event(s *Session, v Invocation) Event {
	e := Event{
		ID:        v.ID,
		EventType: "tool_invocation",
		Skill:     EventSkill{Name: v.Skill},
		Source:    EventSource{Agent: s.Agent, Signal: v.Signal, Confidence: "explicit"},
		Anchor:    &Anchor{Unit: "line", Start: v.Line, End: v.Line + 1, ToolUseID: v.ToolUseID},
		Collapse:  Collapse{Target: "tool_pair", Label: "Skill: " + v.Skill, Collapsed: true},
	}
	if !v.Explicit {
		e.Source.Confidence = "inferred"
	}
	if v.EntryID != "" {
		e.Anchor.EntryIDs = []string{v.EntryID}
	}
	if v.Turn >= 0 && v.Turn < len(s.Turns) {
		e.TurnID = s.Turns[v.Turn].ID
	}
	if !v.Time.IsZero() {
		e.Timestamp = v.Time.UTC().Format(time.RFC3339Nano)
	}
	switch v.Signal {
	case SkillToolUse:
		e.Native = map[string]string{"tool_name": cmp.Or(v.Tool, "Skill")}
		if v.ToolUseID != "" {
			e.Native["tool_use_id"] = v.ToolUseID
		}
	case SkillFileRead:
		if v.ToolUseID != "" {
			e.Native = map[string]string{"tool_use_id": v.ToolUseID}
		}
	default:
		e.EventType = "prompt_invocation"
		e.Native = map[string]string{"command": command(v)}
		e.Collapse = Collapse{Target: "user_message", Label: "/skill:" + v.Skill, Collapsed: true}
	}
	return e
}

// command is the command as it was typed. The rest of the prompt is never stored in an
// event.
func command(v Invocation) string {
	switch v.Signal {
	case InputSlashCommand:
		return "/skill:" + v.Skill
	case DollarMention:
		return "$" + v.Skill
	}
	return "/" + cmp.Or(v.Command, v.Skill)
}

// PromptEventID is the id of a typed invocation, for agents that record none. It is
// empty without a time, because the name alone is not unique.
func PromptEventID(agent, name string, at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return "prompt-skill-" + agent + "-" + name + "-" + at.UTC().Format(time.RFC3339Nano)
}

// SkillName is the canonical form of a skill's name as agents record it:
// trimmed, and without the command's "/" or "/skill:".
func SkillName(s string) string {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "/"); ok {
		s = strings.TrimPrefix(rest, "skill:")
	}
	return strings.TrimSpace(s)
}

var slashCommand = lazyregexp.New(`^/([A-Za-z0-9][A-Za-z0-9._:/-]*)`)

// roots are folders at the top of file systems: a prompt that begins with such a path
// is no command.
var roots = []string{"Applications", "Library", "System", "Users", "Volumes", "bin", "boot", "dev", "etc", "home", "lib", "lib64",
	"media", "mnt", "opt", "private", "proc", "root", "run", "sbin", "srv", "sys", "tmp", "usr", "var", "workspace", "workspaces"}

// SlashCommand returns the skill that a prompt beginning with "/name" asks for.
// It cannot know whether such a skill exists.
func SlashCommand(prompt string) (name string, ok bool) {
	m := slashCommand.FindStringSubmatch(strings.TrimLeft(prompt, " \t\r\n"))
	if m == nil {
		return "", false
	}
	first, _, path := strings.Cut(m[1], "/")
	if path && slices.Contains(roots, first) {
		return "", false
	}
	name = SkillName("/" + strings.TrimRight(m[1], "./:"))
	return name, name != "" && name != "skill"
}

// AppendEvents adds the events of more that are not in have yet. Two events are the
// same if both have the same id or, if one has none, the same type, skill, agent,
// signal and turn.
func AppendEvents(have []Event, more ...Event) []Event {
	for _, e := range more {
		if !slices.ContainsFunc(have, func(h Event) bool { return sameEvent(h, e) }) {
			have = append(have, e)
		}
	}
	return have
}

func sameEvent(a, b Event) bool {
	if a.ID != "" && b.ID != "" {
		return a.ID == b.ID
	}
	return a.EventType == b.EventType && a.Skill.Name == b.Skill.Name && a.Source.Agent == b.Source.Agent &&
		a.Source.Signal == b.Source.Signal && a.TurnID == b.TurnID
}
