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

// unsaid labels a use whose replies the lexicon cannot read: by a model's label, by the
// commit that was made of it, or by the user's leaving after it failed. left is the
// turn in which another subject began; -1 if there is none.
func (out *outcome) unsaid(s *Session, v Invocation, left int) {
	used := &s.Turns[v.Turn]
	if f := v.Feedback; f.By != "" && f.stands(s, v) {
		out.take(s, v, f)
		return
	}
	if t := committed(s, v); t >= 0 {
		// Useless work is not committed, but much is committed that still needs
		// changes.
		id := s.Turns[t].Committed
		out.Feedback = Feedback{Label: Accepted, Confidence: .6, Evidence: "[committed as " + id[:min(len(id), 12)] + "]", Turn: t}
		out.accepted, out.final = t, lastAnswer(s, v.Turn, t+1)
		return
	}
	// A failing tool is no failed use: agents recover, and then they answer. And in a
	// session driven by a program no user can leave.
	if !v.Failed && used.Answer != "" || s.Headless {
		return
	}
	switch {
	case left == v.Turn+1:
		out.Feedback = Feedback{Label: Abandoned, Confidence: .3, Evidence: cmp.Or(firstWords(s.own(left)), "[pasted text]"), Turn: left}
	case v.Turn == len(s.Turns)-1:
		out.Feedback = Feedback{Label: Abandoned, Confidence: .3, Evidence: "[the session ended]", Turn: v.Turn}
	}
}

// committed is the first turn, of the use's own and those that may still be about it,
// whose work the user committed; -1 if there is none.
func committed(s *Session, v Invocation) int {
	for t := v.Turn; t < len(s.Turns) && t <= v.Turn+horizon; t++ {
		switch {
		case t > v.Turn && uses(s, t, v.Skill):
			return -1
		case s.Turns[t].Committed != "":
			return t
		}
	}
	return -1
}
