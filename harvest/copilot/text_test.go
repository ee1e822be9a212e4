package copilot_test

import (
	"testing"

	"github.com/skill-evolve/evolve/harvest/ownwords"
)

// What Copilot shows the model beside the request is not what the person typed.
func TestInjectedIsNotTyped(t *testing.T) {
	for name, c := range map[string]struct{ want, own, line string }{
		"transformed":      {"thanks", "thanks", said("e1", "thanks")},
		"only transformed": {"", "", event("user.message", "e1", 0, `"content":"","transformedContent":"no, wrong."`)},
		"reminder":         {"thanks", "thanks", said("e1", "<system_reminder>a</system_reminder>no, wrong.</system_reminder>thanks")},
		"left open":        {"thanks", "thanks", said("e1", "thanks\n\n<system_reminder>no, wrong.")},
		"files": {"thanks\n<attached_files>no, wrong.</attached_files>", "thanks",
			said("e1", "thanks\n<attached_files>no, wrong.</attached_files>")},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := read(t, said("e0", "draw it"), answered("a0", "Done."), c.line)
			want := "draw it"
			if c.want != "" {
				want += "|" + c.want
			}
			if got := prompts(s); got != want {
				t.Fatalf("prompts %q, want %q", got, want)
			}
			if got := ownwords.Of(s.Turns[len(s.Turns)-1].Prompt); c.own != "" && got != c.own {
				t.Errorf("own words %q, want %q", got, c.own)
			}
		})
	}
}
