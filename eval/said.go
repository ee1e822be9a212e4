package eval

import (
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
)

// Quote is plain.Quote.
func Quote(text string) string { return plain.Quote(text) }

// Inert is plain.Inert.
func Inert(text string) string { return plain.Inert(text) }

// saidMark precedes the person's words in the feedback of a mined check.
const saidMark = "user said: "

// Saying is the feedback of a mined check: what is missing, if it was put into words,
// and what the person wrote.
func Saying(missing, said string) string {
	if missing == "" {
		return saidMark + said
	}
	return missing + " (" + saidMark + said + ")"
}

// Said is what the person wrote about the answer that a mined case was made of, "" if
// no check quotes it.
func (c *Case) Said() string {
	for _, k := range c.Checks {
		at := strings.LastIndex(k.Feedback, saidMark) // a model may have written the mark, too
		if at < 0 {
			continue
		}
		said := k.Feedback[at+len(saidMark):]
		if at > 0 {
			said = strings.TrimSuffix(said, ")")
		}
		if said != "" {
			return said
		}
	}
	return ""
}
