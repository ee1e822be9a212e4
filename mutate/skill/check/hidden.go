package check

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// newHidden finds characters of the child that a reader does not see, or that
// look like others, and of which the parent holds fewer.
func newHidden(parent, child string) []match {
	had, has := map[rune]int{}, map[rune]int{}
	for _, m := range hiddenRunes(parent) {
		had[m.r]++
	}
	var out []match
	for _, m := range hiddenRunes(child) {
		if has[m.r]++; has[m.r] == had[m.r]+1 {
			out = append(out, match{m.at, fmt.Sprintf("the character U+%04X is new: %s", m.r, m.why)})
		}
	}
	if i := strings.Index(child, "\r\n"); i >= 0 && !strings.Contains(parent, "\r\n") && strings.Contains(parent, "\n") {
		out = append(out, match{i, "a line ends in CRLF, and none did before"})
	}
	mixed := mixedWords(child)
	if len(mixed) == 0 {
		return out
	}
	known := map[string]bool{}
	for _, m := range mixedWords(parent) {
		known[m.text] = true
	}
	for _, m := range mixed {
		if !known[m.text] {
			out = append(out, match{m.at, fmt.Sprintf("the word %q mixes Latin letters with lookalikes of another script", m.text)})
		}
	}
	return out
}

type hiddenRune struct {
	at  int
	r   rune
	why string
}

func hiddenRunes(s string) []hiddenRune {
	var out []hiddenRune
	before := rune(0)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if why := hidden(r, before, s[i+n:]); why != "" && !(r == '\ufeff' && i == 0) {
			out = append(out, hiddenRune{i, r, why})
		}
		before, i = r, i+n
	}
	return out
}

// hidden returns why r is not what it seems, "" if it is harmless. Emoji keep
// their joiners and selectors.
func hidden(r, before rune, rest string) string {
	switch {
	case r == '\t' || r == '\n':
	case r == '\r':
		if rest == "" || rest[0] != '\n' {
			return "a carriage return that ends no line"
		}
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return "a control character"
	case r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c:
		return "it changes the direction of the text around it"
	case (r == 0x200d || r == 0xfe0f || r == 0xfe0e) && before >= 0x2190:
	case invisible(r):
		return "it is invisible"
	case unicode.Is(unicode.Co, r):
		return "it has no public meaning"
	case r >= 0xff21 && r <= 0xff5a || r >= 0x1d400 && r <= 0x1d7ff || r >= 0x1f130 && r <= 0x1f189:
		return "a letter in disguise"
	}
	return ""
}

// invisible tells whether r leaves nothing on a screen and is no ordinary space.
func invisible(r rune) bool {
	switch r {
	case 0x2028, 0x2029, 0x115f, 0x1160, 0x3164, 0xffa0, 0x2800, 0x034f, 0x17b4, 0x17b5:
		return true
	}
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r)
}

var wordOfLetters = lazyregexp.New(`\pL+`)

var lookalikes = []*unicode.RangeTable{unicode.Cyrillic, unicode.Armenian, unicode.Cherokee}

// mixedWords are words with both Latin letters and lookalikes of them. Greek is left
// out: formulas hold it next to Latin letters.
func mixedWords(s string) []match {
	var out []match
	if strings.IndexFunc(s, func(r rune) bool { return unicode.In(r, lookalikes...) }) < 0 {
		return nil
	}
	for _, m := range wordOfLetters.FindAllStringIndex(s, -1) {
		var latin, other bool
		for _, r := range s[m[0]:m[1]] {
			latin = latin || unicode.Is(unicode.Latin, r)
			other = other || unicode.In(r, lookalikes...)
		}
		if latin && other {
			out = append(out, match{m[0], s[m[0]:m[1]]})
		}
	}
	return out
}
