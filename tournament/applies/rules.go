package applies

import (
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/tournament/candidate"
)

// A Line is a line of instructions: a sentence, a heading or a block of code. Was is what it
// replaced, "" for nothing; Is is "" if it was removed.
type Line struct {
	Was string `json:"was,omitempty"`
	Is  string `json:"is,omitempty"`
}

// Text is the line as it is, or was.
func (l Line) Text() string {
	if l.Is != "" {
		return l.Is
	}
	return l.Was
}

// Changed are the lines in which two texts differ.
func Changed(from, to *skill.Document) (out []Line) {
	for _, e := range candidate.Edits(from, to) {
		out = append(out, Line{Was: e.Was, Is: e.Is})
	}
	return out
}

// Lines are the rules of a text: its units without its headings.
func Lines(doc *skill.Document) (out []Line) {
	for _, text := range candidate.Units(doc) {
		if !strings.HasPrefix(text, "#") {
			out = append(out, Line{Is: text})
		}
	}
	return out
}
