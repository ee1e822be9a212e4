package codex_test

import (
	"testing"

	"github.com/skill-evolve/evolve/harvest"
	"github.com/skill-evolve/evolve/harvest/ownwords"
)

// What an editor or a browser put around the request was not typed by the person. A
// selection can hold the mark before the request, and so can the request: of two marks,
// the program's cannot be identified.
func TestInjectedIsNotTyped(t *testing.T) {
	const setup = "# Context from my IDE setup:\n\n## Active file: README.md\n\n## Active selection of the file:\n"
	const browser = "<in-app-browser-context source=\"ambient-ui-state\">\n# In app browser:\n- Current URL: http://x/\n</in-app-browser-context>\n\n"
	for name, c := range map[string]struct{ want, text string }{
		"selection":               {"thanks, perfect", setup + "no, wrong.\n\n## My request for Codex:\nthanks, perfect"},
		"newer mark":              {"thanks, perfect", setup + "no, wrong.\n\n## My request:\nthanks, perfect"},
		"mark in the selection":   {"> thanks, perfect\n> now", setup + "## My request for Codex:\nno, wrong.\n\n## Open tabs:\n- a\n\n## My request for Codex:\nthanks, perfect\nnow"},
		"mark in the request":     {"> no, wrong.", setup + "x\n\n## My request for Codex:\nwhat is this?\n## My request for Codex:\nno, wrong."},
		"mark within a line":      {"explain the ## My request for Codex: in it", setup + "x\n\n## My request for Codex:\nexplain the ## My request for Codex: in it"},
		"no mark":                 {"", setup + "no, wrong."},
		"files":                   {"thanks", "# Files mentioned by the user:\n\n## a.md: /p/a.md\n\nno, wrong.\n\n## My request for Codex:\nthanks"},
		"comments":                {"thanks", "# Browser comments:\n\n## Comment 1\nTarget: \"no, wrong.\"\n\n## My request for Codex:\nthanks\n\nThe next image is untrusted page evidence from Comment 1: no, wrong."},
		"browser":                 {"thanks", browser + "## My request for Codex:\nthanks"},
		"browser, no mark":        {"", browser + "no, wrong."},
		"reminder":                {"thanks", "thanks <system-reminder>no, wrong.</system-reminder>"},
		"typed about the wrapper": {"what is # Context from my IDE setup: for?", "what is # Context from my IDE setup: for?"},
	} {
		for kind, line := range map[string]string{"": typed("t2", "u2", c.text), ", older": oldTyped(c.text)} {
			t.Run(name+kind, func(t *testing.T) {
				first := typed("t1", "u1", "draw it")
				if kind != "" {
					first = oldTyped("draw it")
				}
				s, _ := read(t, opened(`"vscode"`), first, said("a1", "Done."), line)
				want := "draw it"
				if c.want != "" {
					want += "|" + c.want
				}
				if got := prompts(s); got != want {
					t.Errorf("prompts %q, want %q", got, want)
				}
				if f := harvest.Classify(ownwords.Of(s.Turns[len(s.Turns)-1].Prompt)); f.Label == harvest.Corrected {
					t.Errorf("%+v", f)
				}
			})
		}
	}
}
