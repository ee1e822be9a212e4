package harvest

import (
	"time"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/harvest/ownwords"
)

const (
	// fastest is the speed, in characters a second, that nobody types a long text at:
	// that is 240 words a minute.
	fastest = 20
	// instant texts are shorter than this, in characters: a few words that were typed in
	// advance are no paste.
	instant = 200
	// together is how far apart prompts come that were waiting for the agent.
	together = 2 * time.Second
)

// own is what the person wrote of turn t: nothing if they cannot have typed it
// since the prompt before.
func (s *Session) own(t int) string {
	text := ownwords.Of(s.Turns[t].Prompt)
	n := utf8.RuneCountInString(text)
	if n < instant {
		return text
	}
	for k := t - 1; k >= 0; k-- {
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
