package plain

import (
	"strings"
	"unicode"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// Quote quotes text for a prompt: every line of Inert(text) after "> ". Whatever is in
// it (a closing fence, a heading or a tag like ours, a role, an order) comes after the
// mark, so it cannot pass for a part of the prompt. Prompts state once that what
// follows the mark is data, and name the origin of each quotation.
func Quote(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimSpace(Inert(text)), "\n", "\n> ")
}

// Arg is s as an argument that can be pasted into a POSIX shell.
func Arg(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !bare(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// bare reports whether a shell takes r in an argument for what it is.
func bare(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,", r)
}

// Inert returns text as a reader sees it: with plain line feeds for whatever begins a
// new line, and without characters that look different from what they are: terminal
// sequences, control characters, direction marks, joiners and other zero-width
// characters, tags. The tokens that replace kernel text in a mutator's prompt are
// broken up, so that no quotation holds one. Inert(Inert(s)) == Inert(s).
func Inert(text string) string {
	if isInert(text) {
		return text
	}
	text = strings.ToValidUTF8(text, "\ufffd")
	text = escape.ReplaceAllString(breaks.Replace(text), "")
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), blank[r],
			r >= 0xE0000 && r <= 0xE0FFF: // tags, and the variation selectors that hide bytes
			return -1
		}
		return r
	}, text)
	return kernelToken.ReplaceAllString(text, "‹‹$1")
}

// isInert reports whether text consists of visible signs, line feeds and tabs, with
// nothing that looks like a token, as nearly all texts do.
func isInert(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' || c > '~') && c != '\n' && c != '\t' || c == '<' && i > 0 && text[i-1] == '<' {
			return false
		}
	}
	return true
}

var (
	breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")
	// The tokens of skill.Document.View.
	kernelToken = lazyregexp.New(`(?i)<<(\s*KERNEL)`)
	// Letters and marks that show nothing, with or without a width.
	blank = map[rune]bool{0x034f: true, 0x115f: true, 0x1160: true, 0x17b4: true, 0x17b5: true, 0x3164: true, 0xffa0: true, 0x2800: true}
)
