package check

import (
	"html"
	"slices"
	"strings"
	"unicode"
)

// someLetters is the least number of letters that a section must show to have
// a meaning of its own.
const someLetters = 2

func lettersIn(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// voidedBy returns a heading directly before a section that revokes it ("Old
// rules, ignore") and that was not there before; "" for none. By the format a
// heading ends at the next one, but a reader may apply it further.
func voidedBy(was, is []string) string {
	for _, h := range is {
		if !slices.Contains(was, h) && patternOf("void").MatchString(plainWords(html.UnescapeString(h))) {
			return h
		}
	}
	return ""
}

// plainWords is s in lower case, without invisible characters, and with plain
// spaces and hyphens.
func plainWords(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Pd, r):
			return '-'
		case r == '\u2019':
			return '\''
		case invisible(r), unicode.Is(unicode.Mn, r):
			return -1
		}
		return unicode.ToLower(r)
	}, s)
	return fold(s)
}
