package check

import (
	"strings"
	"unicode"
)

const phraseLength = 60 // characters

// shortened is a quotation of at most phraseLength characters: the middle of a long
// one is left out.
func shortened(s string) string {
	s = printable(s)
	r := []rune(s)
	if len(r) <= phraseLength {
		return s
	}
	const half = (phraseLength - 3) / 2
	head, tail := string(r[:half]), string(r[len(r)-half:])
	if i := strings.LastIndexByte(head, ' '); i > 0 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, ' '); i >= 0 {
		tail = tail[i+1:]
	}
	return head + " … " + tail
}

// printable is a text on one line, without what a terminal would obey or not show.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.Join(strings.Fields(s), " "))
}

// asWritten returns the words of a text that normalize to part. The text begins as
// the sentence does, and part is a match in the sentence without its harmless
// phrases.
func asWritten(text, sentence, part string) string {
	part, _, _ = strings.Cut(strings.TrimSpace(part), "  ") // a harmless phrase stood there
	i := strings.Index(sentence, part)
	if i < 0 || part == "" {
		i, part = 0, sentence
	}
	first := strings.Count(sentence[:i], " ")
	last := first + strings.Count(part, " ")
	n, from := 0, -1
	for at := 0; at < len(text); {
		word := strings.TrimLeftFunc(text[at:], unicode.IsSpace)
		start := len(text) - len(word)
		if end := strings.IndexFunc(word, unicode.IsSpace); end >= 0 {
			word = word[:end]
		}
		at = start + len(word)
		if n += len(strings.Fields(plain(word))); n > first && from < 0 {
			from = start
		}
		if n > last {
			return strings.TrimRight(text[from:at], ".,;:!?")
		}
	}
	return part
}

// wordAt is the word of a text that holds offset at.
func wordAt(text string, at int) string {
	const between = " \t\n"
	from := strings.LastIndexAny(text[:at], between) + 1
	if n := strings.IndexAny(text[at:], between); n >= 0 {
		return text[from : at+n]
	}
	return text[from:]
}
