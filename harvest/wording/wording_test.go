package wording

import (
	"strings"
	"testing"

	"github.com/skill-evolve/evolve/eval/check"
	"pgregory.net/rapid"
)

func TestFault(t *testing.T) {
	w := Words{Request: Of("Upload the file again if the server is busy"), Corrections: Of("you have to wait longer each time, and write a unit test"),
		Before: Of("It uses retryUpload in src/upload.go.")}
	for name, c := range map[string]struct {
		check check.Check
		want  string
	}{
		"a name that nobody used":   {check.Check{Type: check.Added, Value: "backoffDelay"}, TooNarrow},
		"a name of their words":     {check.Check{Type: check.Added, Value: `(?i)wait_?longer`}, ""},
		"one of the words":          {check.Check{Type: check.Added, Value: `(?i)\b(backoff|wait|sleep)`}, ""},
		"none of the words":         {check.Check{Type: check.Added, Value: `(?i)\b(backoff|sleep)`}, TooNarrow},
		"alternatives that share":   {check.Check{Type: check.Added, Value: `latency|later|wai(t|ting)`}, ""},
		"what may be left out":      {check.Check{Type: check.Added, Value: `upload(WithBackoff)?\(`}, ""},
		"words of the language":     {check.Check{Type: check.Added, Value: `^func Test\w+\(`}, ""},
		"a name before":             {check.Check{Type: check.Added, Value: `retryUpload\(`}, ""},
		"its file":                  {check.Check{Type: check.Changed, Path: "src/upload.go"}, ""},
		"any file":                  {check.Check{Type: check.Changed, Path: "*.go"}, ""},
		"any test":                  {check.Check{Type: check.Changed, Path: "**/*_test.go"}, ""},
		"a file that nobody named":  {check.Check{Type: check.Changed, Path: "src/backoff.go"}, TooNarrow},
		"lines of one":              {check.Check{Type: check.Added, Value: "wait", Path: "src/backoff.go"}, TooNarrow},
		"what must not be there":    {check.Check{Type: check.NotAdded, Value: "backoffDelay"}, ""},
		"a command":                 {check.Check{Type: check.Ran, Value: "make lint"}, ""},
		"an answer":                 {check.Check{Type: check.Regex, Value: "backoff"}, ""},
		"very many":                 {check.Check{Type: check.Added, Value: strings.Repeat("(a|b|c|d)", 9) + "xyz"}, ""},
		"a rubric that names it":    {check.Check{Type: check.Judge, Rubric: "Each retry waits longer than the one before."}, ""},
		"one that names nothing":    {check.Check{Type: check.Judge, Rubric: "The answer does all that the request asks for, and does it correctly."}, TooGeneral},
		"one that says the request": {check.Check{Type: check.Judge, Rubric: "The agent correctly implements what the user asked: to upload the file again if the server is busy."}, TooGeneral},
		"one in another language":   {check.Check{Type: check.Judge, Rubric: "Jeder Versuch wartet mehr als der vorige."}, ""},
	} {
		if got := w.Fault(&c.check); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A check of lines that asks for words which the user said is not narrow, however they are
// put together.
func TestSaidIsNotNarrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.SliceOfN(rapid.StringMatching(`[a-z]{3,9}`), 1, 6).Draw(t, "said")
		w := Words{Corrections: Of(strings.Join(said, " "))}
		parts := rapid.SliceOfN(rapid.SampledFrom(said), 1, 4).Draw(t, "parts")
		pattern := strings.Join(parts, rapid.SampledFrom([]string{`\W+`, `.*`, `[ _-]`, `\s*\(`}).Draw(t, "between"))
		other := rapid.StringMatching(`[a-z]{3,9}`).Draw(t, "other")
		for _, p := range []string{pattern, "(?i)" + pattern, `\b(` + other + "|" + pattern + ")", pattern + "(" + other + ")?"} {
			if fault := w.Fault(&check.Check{Type: check.Added, Value: p}); fault != "" {
				t.Errorf("%s is %s, after %q", p, fault, said)
			}
		}
	})
}
