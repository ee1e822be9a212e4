package harvest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest/work"
	"github.com/skill-evolve/evolve/mutate/skill"
)

// The two exchanges before a request are whole, those before are a sentence each with the
// files that changed.
func TestPreceding(t *testing.T) {
	s := session("Plan: parse the flags of the program. It reads POSIX style. => I looked at the code first.\nThe parser is in flags.go. It reads POSIX style!\n```go\nnothing. here\n```\nDone.",
		"Why a map? Slices keep the order. => A map is quicker. I can change it.",
		"yes => It is a slice now.\nAll tests pass.", "and the tests?")
	for range 10 {
		s.Turns[0].Work = append(s.Turns[0].Work, work.Act{Kind: work.Changed, File: fmt.Sprintf("f%d.go", len(s.Turns[0].Work))}, work.Act{Kind: work.Ran, Line: "go test ./..."})
	}
	want := []eval.Message{
		{Role: "user", Text: "Plan: parse the flags of the program."},
		{Role: "assistant", Text: "It reads POSIX style! (changed f0.go, f2.go, f4.go, f6.go, f8.go, f10.go, f12.go, f14.go and 2 more)"},
		{Role: "user", Text: "Why a map? Slices keep the order."}, {Role: "assistant", Text: "A map is quicker. I can change it."},
		{Role: "user", Text: "yes"}, {Role: "assistant", Text: "It is a slice now.\nAll tests pass."},
	}
	got := preceding(s, 3)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q", got)
	}
}

// Whatever was said, the context fits, begins with the user, has the end of the last answer,
// and nothing of the request or of what came after it.
func TestPrecedingProperties(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.Just(""), rapid.StringMatching(`([a-zé漢]{1,12}[.!?]?[ \n]){0,40}`),
		rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(rapid.SampledFrom([]string{"word ", "漢", "a.\n", "\xff", "nospace"}).Draw(t, "unit"), rapid.IntRange(0, 9000).Draw(t, "times"))
		}))
	rapid.Check(t, func(t *rapid.T) {
		s := &Session{ID: "s", Started: time.Unix(0, 0)}
		for range rapid.IntRange(1, 12).Draw(t, "turns") {
			s.Turns = append(s.Turns, Turn{Prompt: text.Draw(t, "prompt"), Answer: text.Draw(t, "answer")})
		}
		turn := rapid.IntRange(0, len(s.Turns)-1).Draw(t, "turn")
		got := preceding(s, turn)
		tokens := 0
		for _, m := range got {
			tokens += skill.Tokens(m.Text)
		}
		if tokens > maxContext {
			t.Fatalf("%d tokens", tokens)
		}
		if len(got) > 0 && got[0].Role != "user" {
			t.Fatalf("it begins with %+v", got[0])
		}
		if turn > 0 && strings.TrimSpace(s.Turns[turn-1].Prompt) != "" && s.Turns[turn-1].Answer != "" {
			if end := got[len(got)-1]; end.Role != "assistant" || !strings.HasSuffix(s.Turns[turn-1].Answer, strings.TrimPrefix(end.Text, elision)) {
				t.Fatalf("it ends with %+v", end)
			}
		}
		for k := turn; k < len(s.Turns); k++ {
			s.Turns[k] = Turn{Prompt: "other", Answer: "other", Reading: &Reading{Label: Corrected}}
		}
		if again := preceding(s, turn); fmt.Sprint(again) != fmt.Sprint(got) {
			t.Fatal("what came later changed the context")
		}
	})
}
