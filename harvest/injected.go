package harvest

import (
	"slices"
	"strings"
)

// interruptMark begins the note that Claude Code writes in the user's name when
// she stops the agent.
const interruptMark = "[Request interrupted by user"

// injected are the beginnings of other messages in the user's name that the
// program wrote: a compaction, a skill's text, what a command printed that the
// user ran beside the agent, and the report of a background task.
var injected = []string{"This session is being continued from a previous conversation", skillBodyMark, "<bash-input>", "<bash-stdout>", "<bash-stderr>",
	"<local-command-", "<task-notification>"}

// skillBodyMark begins the text of a skill as Claude Code puts it before the model.
const skillBodyMark = "Base directory for this skill: "

// Interrupts reports whether a message in the user's name says that she stopped
// the agent. It is no turn of its own, but an outcome of the turn before.
func Interrupts(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), interruptMark)
}

// Injected reports whether a message in the user's name was written by the
// program: nobody asked for what it says.
func Injected(text string) bool {
	text = strings.TrimSpace(text)
	return Interrupts(text) || slices.ContainsFunc(injected, func(mark string) bool { return strings.HasPrefix(text, mark) })
}
