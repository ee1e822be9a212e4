package harvest

import "testing"

// A commit alone is no acceptance: much is committed that still needs changes.
func TestCommitted(t *testing.T) {
	for name, c := range map[string]struct {
		turns []Turn
		want  Label
		final int
	}{
		"nothing said":      {[]Turn{{Prompt: "/dataviz a", Answer: "x", Committed: "9c1f0000000000"}}, Unknown, -1},
		"later":             {[]Turn{{Prompt: "/dataviz a", Answer: "x"}, {Prompt: "next: write the quarterly report", Answer: "y", Committed: "9c1f"}}, Unknown, -1},
		"too late":          {[]Turn{{Prompt: "/dataviz a", Answer: "x"}, {Prompt: "b"}, {Prompt: "c"}, {Prompt: "d"}, {Prompt: "e", Committed: "9c1f"}}, Unknown, -1},
		"corrected":         {[]Turn{{Prompt: "/dataviz a", Answer: "x"}, {Prompt: "no, use a log scale", Answer: "y", Committed: "9c1f"}}, Corrected, -1},
		"interrupted":       {[]Turn{{Prompt: "/dataviz a", Interrupted: true, Committed: "9c1f"}}, Rejected, -1},
		"after another use": {[]Turn{{Prompt: "/dataviz a", Answer: "x"}, {Prompt: "/dataviz of something else entirely, b", Committed: "9c1f"}}, Unknown, -1},
	} {
		s := &Session{Turns: c.turns, Invocations: []Invocation{{Skill: "dataviz"}}}
		if name == "after another use" {
			s.Invocations = append(s.Invocations, Invocation{Skill: "dataviz", Turn: 1})
		}
		if out := assess(s, s.Invocations[0]); out.Label != c.want || out.final != c.final {
			t.Errorf("%s: %+v", name, out)
		}
	}
}
