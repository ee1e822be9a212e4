package harvest

import (
	"time"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/harvest/ownwords"
)

const (
	// fastest is a speed, in characters a second, at which nobody types a long text: it
	// is 240 words a minute.
	fastest = 20
	// instant is the length, in characters, below which a text is no paste: a few words
	// may have been typed in advance.
	instant = 200
	// together is the longest time between prompts that were waiting for the agent.
	together = 2 * time.Second
	// waiting is how many prompts may wait for the agent; more were not typed by a person,
	// or have no true times.
	waiting = 20
)

// Own is the text of turn t that the person wrote: nothing if they cannot have typed it
// since the prompt before.
func (s *Session) Own(t int) string {
	text := ownwords.Of(s.Turns[t].Prompt)
	n := utf8.RuneCountInString(text)
	if n < instant {
		return text
	}
	for k := t - 1; k >= max(0, t-waiting); k-- {
		since := s.Turns[t].Time.Sub(s.Turns[k].Time)
		switch {
		case s.Turns[t].Time.IsZero() || s.Turns[k].Time.IsZero() || since < 0:
			return text
		case since < together:
			n += utf8.RuneCountInString(ownwords.Of(s.Turns[k].Prompt))
		case float64(n) > fastest*since.Seconds():
			return ""
		default:
			return text
		}
	}
	return text
}
