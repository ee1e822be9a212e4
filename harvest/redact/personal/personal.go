// Package personal finds personal data: mail addresses, and numbers of phones, cards and
// accounts.
package personal

import (
	"math/big"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// Kinds are the kinds of personal data that are found.
var Kinds = []string{"mail", "phone", "card", "iban"}

// patterns are those of personal data, and what a match has to hold besides.
var patterns = map[string]struct {
	pattern *lazyregexp.Regexp
	is      func(match string) bool
}{
	// git@host:path is an address of a repository.
	"mail": {lazyregexp.New(`[\pL\pN._%+-]+@[\pL\pN-]+(?:\.[\pL\pN-]+)*\.\pL{2,}\b`), func(m string) bool { return !strings.HasPrefix(m, "git@") }},
	// International ones, and national ones whose groups show what they are.
	"phone": {lazyregexp.New(`\+[1-9][0-9]{0,2}[ ./-]?(?:\(0?[0-9]{1,5}\)[ ./-]?)?[0-9]{2,5}(?:[ ./-]?[0-9]{2,5}){1,5}\b|\(0?[0-9]{2,5}\)[ -]?[0-9]{3,5}[ -]?[0-9]{3,6}\b|\b0[1-9][0-9]{1,4}[ /-][0-9]{2,4}(?:[ -]?[0-9]{2,4}){1,3}\b|\b[2-9][0-9]{2}[-.][2-9][0-9]{2}[-.][0-9]{4}\b`),
		func(m string) bool { n := len(figures(m)); return n >= 8 && n <= 16 }},
	"card": {lazyregexp.New(`\b[2-6][0-9]{3}(?:[ -]?[0-9]{2,6}){2,4}\b`), isCard},
	"iban": {lazyregexp.New(`\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b`), isIBAN},
}

// Each calls found with every place of s that holds personal data of these kinds.
func Each(s string, kinds []string, found func(start, end int, kind string)) {
	for _, kind := range kinds {
		for _, at := range patterns[kind].pattern.FindAllStringIndex(s, -1) {
			if patterns[kind].is(s[at[0]:at[1]]) {
				found(at[0], at[1], kind)
			}
		}
	}
}

func figures(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// isCard reports whether the check digit of a card's number is right (Luhn, ISO/IEC 7812).
func isCard(m string) bool {
	n := figures(m)
	sum := 0
	for i := range n {
		d := int(n[len(n)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return len(n) >= 13 && len(n) <= 19 && sum%10 == 0
}

// isIBAN reports whether the check digits of an account's number are right (ISO 13616).
func isIBAN(m string) bool {
	m = strings.ReplaceAll(m, " ", "")
	if len(m) < 15 || len(m) > 34 {
		return false
	}
	var b strings.Builder
	for _, r := range m[4:] + m[:4] {
		if r >= 'A' {
			b.WriteString(big.NewInt(int64(r - 'A' + 10)).String())
		} else {
			b.WriteRune(r)
		}
	}
	n, ok := new(big.Int).SetString(b.String(), 10)
	return ok && new(big.Int).Mod(n, big.NewInt(97)).Int64() == 1
}
