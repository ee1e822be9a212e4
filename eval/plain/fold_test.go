package plain

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFold(t *testing.T) {
	for _, k := range []struct {
		name, in string
		width    int
		want     string
	}{
		{"short", "  next  nothing\n", 40, "  next  nothing\n"},
		{"no terminal", strings.Repeat("word ", 40), 0, strings.Repeat("word ", 40)},
		{"below the text", "  verdict      promote: quality +0.45 over 20 cases\n", 36,
			"  verdict      promote: quality\n               +0.45 over 20 cases\n"},
		{"below the last column", "ok       data folder  /tmp/x/evolve, 101 sessions", 38,
			"ok       data folder  /tmp/x/evolve,\n  101 sessions"},
		{"beside nothing", "ok       data folder  /tmp/a/long/path/x, 101", 30, "ok       data folder\n  /tmp/a/long/path/x, 101"},
		{"what is typed stays whole", "it ended; go on with `evolve --resume 20260921-031702-5e1f0a`, or drop it", 40,
			"it ended; go on with\n`evolve --resume 20260921-031702-5e1f0a`,\nor drop it"},
		{"a path stays whole", "  report       /home/me/.local/share/evolve/reports/x.html", 30,
			"  report       /home/me/.local/share/evolve/reports/x.html"},
		{"what is typed fits below", "  next         `evolve diff tagger@c47ccabcdef0` shows it", 40,
			"  next\n  `evolve diff tagger@c47ccabcdef0`\n  shows it"},
		{"wide", "売上 売上 売上", 9, "売上 売上\n売上"},
		{"a quote without an end", "say ` and no more of it at all", 12, "say ` and no\nmore of it\nat all"},
	} {
		if got := Fold(k.in, k.width); got != k.want {
			t.Errorf("%s:\n%q\nwant\n%q", k.name, got, k.want)
		}
	}
}

// TestFoldKeeps: folding moves blanks and nothing else, and lines that could be
// shorter are.
func TestFoldKeeps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "word", "売上", "  ", "\n", "`evolve log x`", "e\u0301", "/a/long/path"})).Draw(t, "text"), " ")
		width := rapid.IntRange(1, 60).Draw(t, "width")
		got := Fold(text, width)
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(text), " ") {
			t.Fatalf("%q became %q", text, got)
		}
		if strings.Contains(text, "  ") {
			return // columns are not folded
		}
		for line := range strings.SplitSeq(got, "\n") {
			if body := strings.TrimPrefix(line, label.FindString(line)); Width(line) > width && len(tokens(body)) > 1 {
				t.Fatalf("%d columns: %q", width, line)
			}
		}
	})
}
