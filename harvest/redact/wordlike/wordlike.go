// Package wordlike judges by its letters whether a text is made of words or by a
// generator.
package wordlike

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// trigrams has one bit for each three letters: whether they follow each other in words,
// accents folded. It is made by trigrams_test.go of the names and comments in the sources
// of Go and of this module, of the names that the Unicode CLDR has for languages, countries
// and scripts, as golang.org/x/text ships them, and of the words in testdata/words.txt. It
// says nothing else of any of these texts.
//
//go:generate go test -run TestTrigrams -update .
//go:embed trigrams.bin
var trigrams string

// trigram is the number of the bit of the three letters that w begins with.
func trigram(w string) int {
	return ((int(w[0]|0x20)-'a')*26+int(w[1]|0x20)-'a')*26 + int(w[2]|0x20) - 'a'
}

// Word reports whether letters, of either case, could be a word of some language:
// less than two in five of their trigrams are in no word. Of random letters, twelve at a
// time, 9 % are taken for a word; of words that the table was not made of 0.8 % are
// not, of those of code, which abbreviates, 9 %.
func Word(letters string) bool {
	strange := 0
	for i := 0; i+2 < len(letters); i++ {
		if n := trigram(letters[i:]); trigrams[n>>3]&(1<<(n&7)) == 0 {
			strange++
		}
	}
	return 5*strange < 2*(len(letters)-2) || strange == 0
}

// Unexplained is how many bytes of v nothing explains: neither words, in the ways in which
// code puts them together (snake_case, kebab-case, camelCase, word2), nor numbers.
// size is how many letters and digits it has.
func Unexplained(v string) (n, size int) {
	signed := Signs(v) > 0
	for i := 0; i < len(v); {
		if !alnum(v[i]) {
			i++
			continue
		}
		end := i
		for end < len(v) && alnum(v[end]) {
			end++
		}
		size += end - i
		if !(i > 0 && v[i-1] >= 0x80 || end < len(v) && v[end] >= 0x80) { // else part of a word with accents
			n += partNoise(v[i:end], signed)
		}
		i = end
	}
	return n, size
}

// partNoise is Unexplained of letters and digits alone. signed is true if it is among
// characters that no identifier has.
func partNoise(v string, signed bool) int {
	explained, segments := 0, 0
	after := false // a word was before
	for i := 0; i < len(v); {
		end := Segment(v, i)
		segments++
		switch part := v[i:end]; {
		case digit(v[i]):
			if len(part) >= 4 || after || i == 0 && end < len(v) && len(part) <= 2 || len(part) == len(v) {
				explained += len(part)
			}
			after = false
		case len(part) >= 3 && Word(part), len(part) > 1 && len(part) <= 5 && shortWords()[strings.ToLower(part)]:
			explained += len(part)
			after = true
		default:
			after = false
		}
		i = end
	}
	switch {
	case segments <= 2 && len(v) <= 4 && !signed: // x64, v2, 32B, gp3
		return 0
	case segments >= 4 && len(v) < 3*segments && 5*explained < 3*len(v): // few words are so short
		return len(v)
	}
	return len(v) - explained
}

// shortWords are those of source code that are no words of a language, or too short to
// look like one.
var shortWords = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for w := range strings.FieldsSeq("id ids to of is in on by as at os ui db io ip api url uri json yaml xml html css js ts go py http https utf sha md acl ec ci cd vm vms tcp udp dns ssh tls ssl jwt sql csv pdf png svg jpg aws gcp cpu gpu ram usb rpc sdk cli tty pid uid gid ttl lru") {
		all[w] = true
	}
	return all
})

// Segment is the end of the word or number that begins at v[at]: of camelCase, one hump.
func Segment(v string, at int) int {
	i := at + 1
	switch c := v[at]; {
	case c >= '0' && c <= '9':
		for i < len(v) && v[i] >= '0' && v[i] <= '9' {
			i++
		}
	case c >= 'A' && c <= 'Z' && i < len(v) && v[i] >= 'A' && v[i] <= 'Z':
		for i < len(v) && v[i] >= 'A' && v[i] <= 'Z' {
			i++
		}
		if i < len(v) && v[i] >= 'a' && v[i] <= 'z' && i-at > 1 {
			i-- // HTTPServer
		}
	default:
		for i < len(v) && v[i] >= 'a' && v[i] <= 'z' {
			i++
		}
	}
	return i
}

// chord is words with signs between them: Ctrl+Shift+F5.
var chord = lazyregexp.New(`^[A-Za-z]{2,}\d?(?:[+~@][A-Za-z]{2,8}|[+~@][A-Za-z]?\d{1,2})+$`)

// Sign reports whether c is a character that identifiers and words do not have.
func Sign(c byte) bool { return signs[c] }

var signs = func() (set [256]bool) {
	for _, c := range []byte("!#$%^&*?~+@") {
		set[c] = true
	}
	return set
}()

// Signs counts the characters that identifiers and words do not have.
func Signs(v string) (n int) {
	for i := range len(v) {
		if signs[v[i]] {
			n++
		}
	}
	if n > 0 && chord.MatchString(v) {
		return 0
	}
	return n
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func alnum(c byte) bool { return digit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' }
