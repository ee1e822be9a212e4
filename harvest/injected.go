package harvest

import (
	"slices"
	"strings"
)

// interruptMark begins the note that Claude Code writes in the user's name when the
// user stops the agent.
const interruptMark = "[Request interrupted by user"

// injected are the beginnings of other messages that the program wrote in the user's
// name: a compaction, a skill's text, the output of a command that the user ran beside
// the agent, and the report of a background task.
var injected = []string{"This session is being continued from a previous conversation", skillBodyMark, "<bash-input>", "<bash-stdout>", "<bash-stderr>",
	"<local-command-", "<task-notification>", "<system_notification>"}

// skillBodyMark begins the text of a skill as Claude Code loads it.
const skillBodyMark = "Base directory for this skill: "

// Interrupts reports whether a message in the user's name records that the user stopped
// the agent. It is no turn, but an outcome of the turn before.
func Interrupts(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), interruptMark)
}

// Injected reports whether a message in the user's name was written by the program; it
// is then no request of the user's.
func Injected(text string) bool {
	text = strings.TrimSpace(text)
	return Interrupts(text) || slices.ContainsFunc(injected, func(mark string) bool { return strings.HasPrefix(text, mark) })
}
