package plain

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"text", "Zürich,\n\tline → 2", "Zürich,\n\tline → 2"},
		{"colour", "\x1b[31mred\x1b[0m", "red"},
		{"title", "\x1b]0;owned\x07after", "after"},
		{"link", "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\", "click"},
		{"link that never ends", "\x1b]8;;http://evil.example\nnext line", "\nnext line"},
		{"C1", "a\u009b31mb\u009d0;t\u009cc", "abc"},
		{"clear and home", "\x1b[2J\x1b[H\x1bcdone", "done"},
		{"carriage return overwrites nothing", "rejected\rpromoted", "rejectedpromoted"},
		{"backspace", "ab\b\bcd", "abcd"},
		{"right to left", "\u202egnp\u061c.exe\u2066", "gnp.exe"},
		{"invisible tags", "ok\U000e0041\U000e0042", "ok"},
		{"broken UTF-8", "a\xffb", "a\ufffdb"},
		{"lone escape", "a\x1b", "a"},
	} {
		if got := Text(c.in); got != c.want {
			t.Errorf("%s: Text(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func TestTextLeavesNothingToObey(t *testing.T) {
	parts := []string{"\x1b", "[", "]", "31m", "\x07", "\u009b", "\\", "\n", "a", "\x00", "\u202e", "\xc2", "8;;", "\r"}
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOf(rapid.SampledFrom(parts)).Draw(t, "in"), "")
		got := Text(in)
		for _, r := range got {
			if r != '\n' && r != '\t' && unicode.IsControl(r) {
				t.Fatalf("%q is left in %q", r, got)
			}
		}
		if !utf8.ValidString(got) {
			t.Fatalf("%q is not UTF-8", got)
		}
		if again := Text(got); again != got {
			t.Fatalf("a second pass changes %q to %q", got, again)
		}
	})
}

func TestExcerpt(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"a  b\n\nc", 10, "a b c"}, {"ärger im büro", 6, "ärger…"}, {"abcdef", 6, "abcdef"}, {"\x1b[1mbold\x1b[0m", 4, "bold"}, {"", 5, ""}} {
		if got := Excerpt(c.in, c.n); got != c.want {
			t.Errorf("Excerpt(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}
