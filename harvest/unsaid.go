package harvest

import (
	"cmp"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// If the user's words give no label, their actions may.

// delivery matches commands by which people pass on work that they accept: "/commit",
// "/create-pr", "/git:push".
var delivery = lazyregexp.New(`^(?:[\w.-]+:)*(?:git-)?(?:(?:quick|auto|smart)-)?(?:commit|push|ship|merge|(?:create|open|draft|submit|make)-(?:pr|pull-request|mr)|pr|pull-request)` +
	`(?:-(?:and|push|commit|pr|changes|all|open|create))*$`)

// delivers reports whether a prompt is such a command.
func delivers(prompt string) bool {
	name, ok := SlashCommand(prompt)
	return ok && delivery.MatchString(name)
}

// unsaid labels a use about which the user said nothing, as far as is known: the user may
// have left after it failed. A commit alone is no acceptance: much is committed that still
// needs changes. left is the turn in which another subject began; -1 if there is none.
func (out *outcome) unsaid(s *Session, v Invocation, left int) {
	// A failing tool is no failed use: agents recover, and then they answer. And in a
	// session driven by a program no user can leave.
	if !v.Failed && s.Turns[v.Turn].Answer != "" || s.Headless {
		return
	}
	switch {
	case left == v.Turn+1:
		out.Feedback = Feedback{Label: Abandoned, Confidence: .3, Evidence: cmp.Or(firstWords(s.Own(left)), "[pasted text]"), Turn: left}
	case v.Turn == len(s.Turns)-1:
		out.Feedback = Feedback{Label: Abandoned, Confidence: .3, Evidence: "[the session ended]", Turn: v.Turn}
	}
}
