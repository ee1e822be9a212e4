package skill

import (
	"html"
	"slices"
	"strings"
	"unicode"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// someLetters is the least text that a section must show to have a meaning of its own.
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

// voidedBy returns a heading directly before a section that takes its force away
// ("Old rules, ignore") and that was not there before; "" for none. A heading says
// nothing about what is below the next one, but a reader may think so.
func voidedBy(was, is []string) string {
	for _, h := range is {
		if !slices.Contains(was, h) && voidWord.MatchString(plainWords(html.UnescapeString(h))) {
			return h
		}
	}
	return ""
}

// plainWords is s in lower case, without characters that nobody sees, and with plain
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

// voidWord matches what takes back the text below. Words that name an ordinary subject as
// often ("Invalid input") count only without a noun of their own.
var voidWord = lazyregexp.New(`\b(?:old|former|formerly|obsolete|outdated|out of date|deprecated|superseded|void(?:ed)?|retired|archived?|ignored|inactive|disabled|abolished|revoked|suspended|cancel+ed|` +
	`withdrawn|repealed|rescinded|invalidated|lapsed|annulled|nullified|discontinued|defunct|overrid+en|overruled|waived|` +
	`no longer|non-?\s?binding|not (?:applicable|applied|binding|valid|enforced|in (?:force|effect|use))|(?:do|does)(?: not|n't) apply|for (?:reference|information)(?: only)?|(?:examples?|illustrations?) only|only (?:an )?examples?|` +
	disregard + `)\b|\b(?:expired|invalid|removed|deleted|rejected|legacy|historic(?:al)?)(?:\PL*$|\s*[^\pL\s]|` +
	` (?:in|as of|since|by|on|from|until|here|now|rules?|contracts?|polic(?:y|ies)|requirements?|guidance|sections?|texts?|drafts?|versions?|notes?|instructions?|below)\b)|^(?:\pL+ )?drafts?(?: only| rules?| version| polic(?:y|ies))?\PL*$`)
