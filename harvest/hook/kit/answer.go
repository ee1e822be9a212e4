package kit

import (
	"fmt"
	"slices"
)

// Exit codes of a hook, as agents read them.
const (
	Go     = 0
	Failed = 1 // the agent goes on
	Stop   = 2 // the agent must not; stderr says why
)

// What a hook can answer.
const (
	Block   = "block"
	Allow   = "allow"
	Ask     = "ask"
	Context = "context" // a text for the model
)

// The events whose answer is JSON (Claude Code 2.1.329; SubagentStop by its documentation).
var (
	decides = []string{"UserPromptSubmit", "UserPromptExpansion", "PostToolUse", "PostToolBatch", "Stop", "SubagentStop"}
	informs = []string{"SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PreToolUse", "PostToolUse", "PostToolBatch"}
)

type answer struct {
	Decision string    `json:"decision,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Specific *specific `json:"hookSpecificOutput,omitempty"`
}

type specific struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision,omitempty"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
	Context  string `json:"additionalContext,omitempty"`
}

// Answer is how a hook gives an answer to an event ("" if that is not known): what it
// prints on stdout and on stderr, and its exit code. An event that has no such answer is
// an error, but for block, which any can be given, and allow, which is what happens if a
// hook says nothing.
func Answer(event, what, text string) (stdout, stderr string, code int, err error) {
	print := func(a answer) (string, string, int, error) {
		b, err := canonical(a)
		return string(b), "", Go, err
	}
	before := event == "PreToolUse"
	switch {
	case what == Block && before:
		return print(answer{Specific: &specific{Event: event, Decision: "deny", Reason: text}})
	case what == Block && slices.Contains(decides, event):
		return print(answer{Decision: "block", Reason: text})
	case what == Block:
		return "", text, Stop, nil
	case (what == Allow || what == Ask) && before:
		return print(answer{Specific: &specific{Event: event, Decision: what, Reason: text}})
	case what == Allow:
		return "", "", Go, nil
	case what == Context && slices.Contains(informs, event):
		return print(answer{Specific: &specific{Event: event, Context: text}})
	case what == Context || what == Ask:
		return "", "", Failed, fmt.Errorf("%s takes no answer %q", orUnknown(event), what)
	}
	return "", "", Failed, fmt.Errorf("no answer is called %q: block, allow, ask or context", what)
}

func orUnknown(event string) string {
	if event == "" {
		return "an unknown event"
	}
	return event
}
