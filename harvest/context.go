package harvest

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest/ownwords"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// Of the conversation before a request, a case has the last wholeExchanges as they were, and
// a sentence of each message before. All together have maxContext tokens at most.
const (
	maxContext     = 6000 // as skill.Tokens estimates them
	wholeExchanges = 2
	leastExchange  = 40  // tokens: of less nothing can be understood
	maxSentence    = 240 // characters of a condensed message
	maxNamed       = 8   // changed files of a condensed answer
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

// preceding is the conversation before turn, the oldest first and beginning with the user.
// Each exchange gets two thirds of the room that is left, so a long answer leaves some for
// what it answers.
func preceding(s *Session, turn int) []eval.Message {
	var back []eval.Message
	left := maxContext
	for t, n := turn-1, 0; t >= 0 && left >= leastExchange; t-- {
		said, answer := s.Turns[t].Prompt, s.Turns[t].Answer
		if strings.TrimSpace(said) == "" {
			continue
		}
		if n++; n > wholeExchanges {
			said, answer = condensed(&s.Turns[t])
		}
		room := left * 2 / 3
		// The request matters more than the answer's beginning.
		said = within(said, max(room/2, room-skill.Tokens(answer)), Head)
		room -= skill.Tokens(said)
		left -= skill.Tokens(said)
		if answer = within(answer, room, Tail); answer != "" {
			left -= skill.Tokens(answer)
			back = append(back, eval.Message{Role: "assistant", Text: answer})
		}
		back = append(back, eval.Message{Role: "user", Text: said})
	}
	slices.Reverse(back)
	return back
}

// condensed is a turn in brief: the beginning of the request, the last sentence of the
// answer, and the files that were changed.
func condensed(t *Turn) (said, answer string) {
	said = Head(firstSentence(t.Prompt), maxSentence)
	answer = Tail(lastSentence(t.Answer), maxSentence)
	var files []string
	for _, a := range t.Work {
		if a.Kind == work.Changed && !slices.Contains(files, a.File) {
			files = append(files, a.File)
		}
	}
	if n := len(files); n > 0 {
		names := strings.Join(files[:min(n, maxNamed)], ", ")
		if n > maxNamed {
			names += fmt.Sprintf(" and %d more", n-maxNamed)
		}
		answer = strings.TrimSpace(answer + " (changed " + names + ")")
	}
	return said, answer
}

var (
	sentence = lazyregexp.New(`[.!?…][)"'’”]?[ \t]+|\s*\n\s*`) // its end
	code     = lazyregexp.New("(?ms)^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\\z)")
)

// firstSentence is the first sentence of text; the following ones, too, as long as they are
// but a few words: "Implement this plan:" says nothing.
func firstSentence(text string) string {
	const few = 6
	text = strings.TrimSpace(text)
	for _, at := range sentence.FindAllStringIndex(text, few) {
		if len(strings.Fields(text[:at[0]])) >= few {
			return strings.TrimSpace(text[:at[1]])
		}
	}
	return text
}

// lastSentence is the last sentence of text that is more than a word, code aside.
func lastSentence(text string) string {
	text = strings.TrimSpace(code.ReplaceAllString(text, ""))
	end := len(text)
	ends := sentence.FindAllStringIndex(text, -1)
	for _, at := range slices.Backward(ends) {
		if s := strings.TrimSpace(text[at[1]:end]); len(strings.Fields(s)) > 1 {
			return s
		}
		end = at[1]
	}
	return strings.TrimSpace(text[:end])
}

// within returns text, or what cut (Head or Tail) leaves of it, with at most this number of tokens.
func within(text string, tokens int, cut func(string, int) string) string {
	if skill.Tokens(text) <= tokens {
		return text
	}
	text = cut(text, 4*tokens) // a token is four bytes
	n := utf8.RuneCountInString(text)
	short := sort.Search(n, func(less int) bool { return skill.Tokens(cut(text, n-less)) <= tokens })
	return cut(text, n-short)
}

const elision = "[…] "

// Head is the first n runes of s, including a mark for what was cut.
func Head(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	if n <= len([]rune(elision)) {
		return ""
	}
	return string(r[:n-len([]rune(elision))]) + " […]"
}

// Tail is the last n runes of s, as Head is the first.
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
