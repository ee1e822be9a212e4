package events

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/harvest"
)

// Said is what a hook said of a tool call that did not just go on.
type Said struct {
	Ask bool `json:"ask"` // it had the user asked; else it stopped the call
	// Command is the hook's as the settings have it; "" if the transcript does not name it,
	// as it does not where JSON stopped the call.
	Command string    `json:"command,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	Time    time.Time `json:"time,omitzero"` // when the agent was told
}

const (
	hookSays  = " hook error: "                 // in a result of Claude Code, behind the event and the tool
	codexHook = " blocked by PreToolUse hook: " // in one of Codex
)

// hookSaid reads the result of a call that a hook stopped. What a hook wrote on stderr stands
// behind its command; some older versions have that before hookSays.
func hookSaid(text string) (Said, bool) {
	mark, reason, ok := strings.Cut(text, hookSays)
	tool, command, named := strings.Cut(strings.TrimSuffix(mark, "]"), " [")
	if !ok || !strings.HasPrefix(tool, hookMark) || strings.ContainsAny(tool, " \n") {
		return Said{}, false
	}
	if !named && strings.HasPrefix(reason, "[") {
		if before, rest, ok := strings.Cut(reason, "]: "); ok {
			command, reason = before[1:], rest
		}
	}
	return Said{Command: command, Reason: strings.TrimSpace(reason)}, true
}

// asks notes that a hook had the user asked about a call, which has no result yet.
func (c *claude) asks(l *claudeLine) {
	a := &l.Attachment
	var out struct {
		Specific struct{ PermissionDecision, PermissionDecisionReason string } `json:"hookSpecificOutput"`
	}
	if a.HookEvent == PreToolUse && json.Unmarshal([]byte(a.Stdout), &out) == nil && out.Specific.PermissionDecision == "ask" {
		c.asked[a.ToolUseID] = append(c.asked[a.ToolUseID], Said{true, a.Command, out.Specific.PermissionDecisionReason, harvest.When(l.Timestamp)})
	}
}

// codexReason is what the hook said, without the call behind it.
func codexReason(text string) string {
	_, reason, _ := strings.Cut(text, codexHook)
	reason, _, _ = strings.Cut(reason, ". Command: ")
	reason, _, _ = strings.Cut(reason, ". Tool: ")
	return strings.TrimSpace(reason)
}
