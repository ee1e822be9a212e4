// Package events rebuilds from an agent's transcript what the agent put on the stdin of its
// hooks, in order, and what became of each tool call. It needs no database, keeps nothing and
// redacts nothing: what it returns is as private as the transcript.
package events

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/harvest"
)

// The events that are rebuilt, by the names that hooks know them by.
const (
	SessionStart       = "SessionStart"
	UserPromptSubmit   = "UserPromptSubmit"
	PreToolUse         = "PreToolUse"
	PostToolUse        = "PostToolUse"
	PostToolUseFailure = "PostToolUseFailure"
	Stop               = "Stop"
	SubagentStop       = "SubagentStop"
)

// Names are the events that are rebuilt.
var Names = []string{SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, PostToolUseFailure, Stop, SubagentStop}

// Rebuild are the agents of which events are rebuilt, by their names in sessions.
var Rebuild = map[string]func(ctx context.Context, r io.Reader, file string) ([]Event, []harvest.Problem, error){claudeCode: Claude, codexCLI: Codex, copilotCLI: Copilot}

// An Event is what the agent told its hooks once.
type Event struct {
	Name  string          `json:"name"`
	Tool  string          `json:"tool,omitempty"` // of a tool call's events
	Own   string          `json:"own,omitempty"`  // the tool as Copilot calls it: see OwnTool
	Call  string          `json:"call,omitempty"` // the call's id, where Input has none
	Input json.RawMessage `json:"input"`          // the object on stdin
	Time  time.Time       `json:"time,omitzero"`
	Line  int             `json:"line"` // 0-based, of the transcript
	// Outcome and Words are of a PreToolUse.
	Outcome Outcome `json:"outcome,omitempty"`
	Words   string  `json:"words,omitempty"` // what its user said to a refused call, if anything
	// Said are the hooks that stopped a call or had its user asked, as far as the transcript
	// tells; nil for any other event.
	Said []Said `json:"said,omitempty"`
}

// An Outcome is what became of a tool call, as far as its transcript tells.
type Outcome string

const (
	Unknown Outcome = "" // it has no result, or ended when its user stopped the agent
	// Ran: nobody was asked, or the transcript does not tell whether. That it ran does not
	// mean that its user wanted it.
	Ran Outcome = "ran"
	// Permitted: its user was asked and gave permission.
	Permitted Outcome = "permitted"
	// Refused: its user was asked and refused. Only words that name a rule tell that the call
	// was wrong and not just early: most refusals are a matter of time.
	Refused Outcome = "refused"
	Stopped Outcome = "stopped" // a hook, a rule of the settings or the mode did
)

// A Missing field is one that hooks get and transcripts do not hold, so that no case may
// depend on it.
type Missing struct {
	Agent string `json:"agent"`
	Event string `json:"event"`
	Field string `json:"field"`
	Put   string `json:"put"` // what stands there instead
}

// Fields are those that transcripts do not hold, of Claude Code 2.1.329, Codex
// 0.169.0 and Copilot CLI 1.0.102.
var Fields = slices.Concat(
	missing(claudeCode, "source", "startup; a resumed session shows no second start", SessionStart),
	missing(claudeCode, "permission_mode", "the last that was noted, for a prompt that was typed while the agent worked, a command or a report", UserPromptSubmit),
	missing(claudeCode, "permission_mode", "that of the last prompt, or what a permission for the session made of it; none in a subagent",
		PreToolUse, PostToolUse, PostToolUseFailure, Stop, SubagentStop),
	missing(claudeCode, "duration_ms", "nothing", PostToolUse, PostToolUseFailure),
	missing(claudeCode, "is_interrupt", "false", PostToolUseFailure),
	missing(claudeCode, "stop_hook_active", "false", Stop, SubagentStop),
	missing(claudeCode, "background_tasks", "none", Stop, SubagentStop),
	missing(claudeCode, "session_crons", "none", Stop, SubagentStop),
	missing(codexCLI, "source", "startup", SessionStart),
	missing(codexCLI, "permission_mode", "bypassPermissions where approvals and the sandbox are both off, else default",
		SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, Stop),
	missing(codexCLI, "stop_hook_active", "false", Stop),
	missing(copilotCLI, "timestamp", "when the transcript's line was written", SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, PostToolUseFailure, Stop, SubagentStop),
	missing(copilotCLI, "source", "new, or resume", SessionStart),
	missing(copilotCLI, "stop_hook_active", "false", Stop, SubagentStop),
)

func missing(agent, field, put string, names ...string) (out []Missing) {
	for _, name := range names {
		out = append(out, Missing{agent, name, field, put})
	}
	return out
}

// Held reports whether a transcript holds a field of an event.
func Held(agent, event, field string) bool {
	return !slices.ContainsFunc(Fields, func(m Missing) bool { return m.Agent == agent && m.Event == event && m.Field == field })
}
