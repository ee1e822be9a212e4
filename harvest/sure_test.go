package harvest

import (
	"strings"
	"testing"
)

// Without a model three cues count, and no other.
func TestSure(t *testing.T) {
	for own, want := range map[string]Label{
		"that is wrong, the axis is linear": Corrected, "this is still broken": Corrected, "its wrong": Corrected,
		"commit this": Accepted, "ok, push it": Accepted, "please commit and push": Accepted, "perfect, thanks!": Accepted,
		"no, use a log scale": Unknown, "but what about the costs": Unknown, "why did you change that?": Unknown, "fix it up": Unknown,
		"great, is it fast too?": Unknown, "thanks. " + strings.Repeat("now do the next part of it ", 6): Unknown, "": Unknown, "write a parser": Unknown,
	} {
		if f := Sure(own); f.Label != want {
			t.Errorf("%q: %+v, want %s", own, f, want)
		}
	}
}
