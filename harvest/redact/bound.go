package redact

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/harvest/redact/wordlike"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// copulas are words that bind a value to the noun before them, in the languages of the
// nouns: the password IS x, changed TO x, log in WITH x.
const copulas = " is was are now = : -> => - — – → to be as with use try again ist war lautet sind auf zu mit est sont était c'est avec es era son con è é ser com jest to było är var er on je jsou byl olarak ile это был теперь с είναι este este: la şu: new neue nueva nouveau maintenant ahora adesso agora jetzt nu nyt teraz nyní most acum şimdi сейчас it ponle gib nimm use enter type tippe usa utilise inserisci digita tapez escribe pon foi será sera wird bleibt called namely i.e. nämlich ie "

// asPassword are the words between a value and the noun behind it: use X as the password.
var asPassword = lazyregexp.New(`(?i)^["'\x60]?\s(?:as|is|als|ist|(?:maar )?als|como|comme|come|es|est|jako|som|for|pour|para|für|<-|←|=)(?:\s[^\s.,;!?]{1,12}){0,4}\s$`)

// binds reports whether the text between a noun and a word says that the word is what the
// noun means.
func binds(gap string) bool {
	for gap != "" { // the rest of the noun's own word
		r, n := utf8.DecodeRuneInString(gap)
		if !unicode.IsLetter(r) {
			break
		}
		gap = gap[n:]
	}
	trimmed := strings.TrimRight(gap, " \t\"'`*(\u201c\u201e\u00ab")
	fields := strings.Fields(trimmed)
	switch {
	case len(fields) == 0:
		return true
	case len(fields) > 8 || endsSentence.MatchString(trimmed):
		return false
	}
	last := strings.ToLower(fields[len(fields)-1])
	if strings.Contains(copulas, " "+last+" ") || strings.HasSuffix(last, ":") || strings.HasSuffix(last, "=") {
		return true
	}
	for _, r := range trimmed { // another script than the value's: of whatever is between them, the value is the value
		if r < 0x370 && r != ' ' {
			return false
		}
	}
	return true
}

// endsSentence matches what is no part of one clause.
var endsSentence = lazyregexp.New(`[;!?\n]|\.(?:\s|$)`)

// bound reports whether v, in a place where a noun says what it is, may be a secret
// though it looks like a word with a number or like a number.
func bound(v string, strong bool) bool {
	if len(v) < 5 || !plainToken(v) || !known(v) || algorithm(v) || knownForm(v) || strings.ContainsAny(v, "/_=") {
		return false
	}
	digits := 0
	for i := range len(v) {
		if v[i] >= '0' && v[i] <= '9' {
			digits++
		}
	}
	if dashes := strings.Count(v, "-"); digits+dashes == len(v) {
		return digits >= 12 || strong && digits >= 6 && dashes == 0
	}
	if n, _ := wordlike.Unexplained(v); strong && len(v) >= 6 && n > 0 && (mixed(v) || n == len(v) && strings.ToLower(v) == v && digits == 0) {
		return true
	}
	if strong && (strings.Count(v, "-") >= 3 && strings.ToLower(v) == v || diceware(v)) {
		return true
	}
	return strong && mixed(v) && digits >= 2 && (!strings.ContainsAny(v, ".-") || digits >= 3 && !extension.MatchString(v)) || strong && digits > 0 && wordlike.Signs(v) > 0
}

// habitual reports whether v is what people choose as passwords and nothing else: a word
// with a year and a sign (Winter2024!), or the word itself with figures for letters.
func habitual(v string) bool {
	return wordlike.Signs(v[len(v)-1:]) > 0 && yearSign.MatchString(v) || v[0]|0x20 == 'p' && leet.MatchString(v)
}

var (
	yearSign = lazyregexp.New(`^[A-Z][a-z]{3,12}\d{2,4}[!#$%*@]{1,3}$`)
	leet     = lazyregexp.New(`(?i)^p(?:[@4](?:ss|\$\$|55)w[o0]rd|assw0rd|a\$\$w[o0]rd)[\d!#$%*@]+$`)
)

// encodedWords reports whether v is base64 of words: a name that a program wrote so.
func encodedWords(v string) bool {
	text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(v, "="))
	if err != nil || len(text) < 9 {
		return false
	}
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	n, size := wordlike.Unexplained(string(text))
	return 4*n < size
}
