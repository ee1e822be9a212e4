// Package plain lays out text for people: what others wrote (users, models, agents) made
// safe and short, lines folded, and columns.
package plain

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// escape matches a terminal's control sequences: CSI, the string sequences (OSC, DCS,
// SOS, PM, APC) with their content, and the two-byte ones. A sequence without an end
// matches no more than its line.
var escape = lazyregexp.New("(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]|" +
	"(?:\x1b[\\]PX^_]|[\u0090\u0098\u009d\u009e\u009f])[^\x07\x1b\u009c\n]*(?:\x07|\x1b\\\\|\u009c)?|" +
	"\x1b[ -/]*[0-~]")

// Text is s without what a terminal would obey: escape sequences, control characters
// except line feed and tab, and marks that reorder text. Bytes that are not UTF-8
// become U+FFFD.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r),
			r == 0x061c, r >= 0x200e && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069,
			r >= 0xe0000 && r <= 0xe007f: // tags: invisible, but read by models
			return -1
		}
		return r
	}, escape.ReplaceAllString(s, ""))
}

// Line is s as one plain line.
func Line(s string) string { return Text(strings.Join(strings.Fields(s), " ")) }

// Excerpt is s as one plain line of at most n runes.
func Excerpt(s string, n int) string {
	most := Head(s, 16*n+256)
	r := []rune(strings.Join(strings.Fields(Text(most)), " "))
	if len(r) <= n && len(most) == len(s) {
		return string(r)
	}
	return strings.TrimRight(string(r[:min(len(r), n-1)]), " ") + "…"
}

// Head is the beginning of s, at most n bytes. It saves processing a text that is far
// longer than what is shown of it.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Runes is the beginning of s of at most n runes.
func Runes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

// Short is the name of a text as it is shown: the first twelve digits of its
// SHA-256.
func Short(sha string) string {
	if len(sha) > 12 {
		return sha[:12]
	}
	return sha
}
