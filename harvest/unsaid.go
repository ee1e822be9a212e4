package harvest

import (
	"cmp"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// What people do says something of a use where their words do not.

// delivery are commands by which people hand on what they are content with:
// "/commit", "/create-pr", "/git:push".
var delivery = lazyregexp.New(`^(?:[\w.-]+:)*(?:git-)?(?:(?:quick|auto|smart)-)?(?:commit|push|ship|merge|(?:create|open|draft|submit|make)-(?:pr|pull-request|mr)|pr|pull-request)` +
	`(?:-(?:and|push|commit|pr|changes|all|open|create))*$`)

// delivers reports whether a prompt is such a command.
func delivers(prompt string) bool {
	name, ok := SlashCommand(prompt)
	return ok && delivery.MatchString(name)
}

// unsaid labels a use of which the user said nothing that can be read: by what a
// model read of it, by the commit that was made of it, or by the user's leaving
// after it had failed. left is the turn in which another subject began; -1 if in
// none.
func (out *outcome) unsaid(s *Session, v Invocation, left int) {
	used := &s.Turns[v.Turn]
	if f := v.Feedback; f.By != "" && f.stands(s, v) {
		out.take(s, v, f)
		return
	}
	if t := committed(s, v); t >= 0 {
		// Nobody commits what is of no use, but much is committed that is to be
		// worked on.
		id := s.Turns[t].Committed
		out.Feedback = Feedback{Label: Accepted, Confidence: .6, Evidence: "[committed as " + id[:min(len(id), 12)] + "]", Turn: t}
		out.accepted, out.final = t, lastAnswer(s, v.Turn, t+1)
		return
	}
	// A failing tool is no failed use: agents recover, and then they answer. And
	// nobody is there to leave what a program drives.
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

// committed is the turn, of the use's own and those that may still speak of it,
// whose work the user made a commit of; -1 if there is none.
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
