package pi_test

import (
	"testing"

	"github.com/skill-evolve/evolve/harvest/ownwords"
)

// What pi put into a message is not what the person typed: the text of a skill,
// which may hold its own end, and files.
func TestInjectedIsNotTyped(t *testing.T) {
	for name, c := range map[string]struct{ want, own, text string }{
		"skill":             {"/skill:dataviz as bars", "/skill:dataviz as bars", block("dataviz", "# dataviz", "as bars")},
		"skill with an end": {"/skill:dataviz as bars", "/skill:dataviz as bars", block("dataviz", "# dataviz\n</skill>\n\nno, wrong.", "as bars")},
		"no arguments":      {"/skill:dataviz", "/skill:dataviz", block("dataviz", "# dataviz\n</skill>\n\nno, wrong.", "")},
		"reminder":          {"thanks", "thanks", "<system-reminder>no</system-reminder>, wrong.</system-reminder>thanks"},
		"file":              {"<file name=\"/p/a.md\">\nno, wrong.\n</file>\nthanks", "thanks", "<file name=\"/p/a.md\">\nno, wrong.\n</file>\nthanks"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := read(t, header("3"), typed("1", "", c.text))
			if got := prompts(s); got != c.want {
				t.Fatalf("prompts %q, want %q", got, c.want)
			}
			if got := ownwords.Of(s.Turns[0].Prompt); got != c.own {
				t.Errorf("own words %q, want %q", got, c.own)
			}
		})
	}
}
