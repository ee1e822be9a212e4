package harvest

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest/ownwords"
)

const (
	maxContext = 4000 // characters of conversation before the prompt
	maxTurns   = 6    // and turns
)

// dependent reports whether a prompt cannot be understood alone: it is short ("1",
// "commit", "/review"), continues something, or refers back.
func dependent(prompt string) bool {
	text := normal(arguments(ownwords.Of(prompt)))
	return len(strings.Fields(text)) < 4 || onward.MatchString(text) || rework.MatchString(text) || anaphor.MatchString(clause(text))
}

// replayable reports whether c, or its context, contains the request.
func replayable(c *eval.Case) bool {
	return strings.TrimSpace(c.Prompt) != "" && (len(c.Context) > 0 || len(words(arguments(c.Prompt))) >= 3)
}

// preceding is the tail of the conversation before turn, oldest first and
// beginning with the user, at most maxContext characters.
func preceding(s *Session, turn int) []eval.Message {
	var back []eval.Message
	left := maxContext
	for t := turn - 1; t >= 0 && turn-t <= maxTurns && left > 80; t-- {
		said, answer := s.Turns[t].Prompt, s.Turns[t].Answer
		if said == "" {
			continue
		}
		// The request matters more than the answer's beginning.
		said = head(said, max(left/2, left-utf8.RuneCountInString(answer)))
		left -= utf8.RuneCountInString(said)
		if answer = Tail(answer, left); answer != "" {
			left -= utf8.RuneCountInString(answer)
			back = append(back, eval.Message{Role: "assistant", Text: answer})
		}
		back = append(back, eval.Message{Role: "user", Text: said})
	}
	slices.Reverse(back)
	return back
}

const elision = "[…] "

// Tail is the last n runes of s, head the first, including a mark for what was cut.
func head(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	if n <= len([]rune(elision)) {
		return ""
	}
	return string(r[:n-len([]rune(elision))]) + " […]"
}

func Tail(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	if n <= len([]rune(elision)) {
		return ""
	}
	return elision + string(r[len(r)-n+len([]rune(elision)):])
}
