package redact

import (
	_ "embed"
	"strings"
	"sync"
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

// wordlike reports whether letters, of either case, could be a word of some language:
// less than two in five of their trigrams are in no word. Of random letters, twelve at a
// time, 9 % are taken for a word; of words that the table was not made of 0.8 % are
// not, of those of code, which abbreviates, 9 %.
func wordlike(letters string) bool {
	strange := 0
	for i := 0; i+2 < len(letters); i++ {
		if n := trigram(letters[i:]); trigrams[n>>3]&(1<<(n&7)) == 0 {
			strange++
		}
	}
	return 5*strange < 2*(len(letters)-2) || strange == 0
}

// unexplained is how many bytes of v nothing explains: neither words, in the ways in which
// code puts them together (snake_case, kebab-case, camelCase, word2), nor numbers.
// size is how many letters and digits it has.
func unexplained(v string) (n, size int) {
	signs := signsOf(v) > 0
	for i := 0; i < len(v); {
		if !alnum[v[i]] {
			if v[i] >= 0x80 { // a letter that English has not
				i++
				continue
			}
			i++
			continue
		}
		end := run(v, i, alnum)
		size += end - i
		if !(i > 0 && v[i-1] >= 0x80 || end < len(v) && v[end] >= 0x80) { // else part of a word with accents
			n += partNoise(v[i:end], signs)
		}
		i = end
	}
	return n, size
}

// partNoise is unexplained of letters and digits alone. signs is true if it is among
// characters that no identifier has.
func partNoise(v string, signs bool) int {
	explained, segments := 0, 0
	after := false // a word was before
	for i := 0; i < len(v); {
		end := segment(v, i)
		segments++
		switch part := v[i:end]; {
		case !letter[v[i]]:
			if len(part) >= 4 || after || i == 0 && end < len(v) && len(part) <= 2 || len(part) == len(v) {
				explained += len(part)
			}
			after = false
		case len(part) >= 3 && wordlike(part), len(part) > 1 && len(part) <= 5 && shortWords()[strings.ToLower(part)]:
			explained += len(part)
			after = true
		default:
			after = false
		}
		i = end
	}
	switch {
	case segments <= 2 && len(v) <= 4 && !signs: // x64, v2, 32B, gp3
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

// segment is the end of the word or number that begins at v[at]: of camelCase, one hump.
func segment(v string, at int) int {
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

// odd reports whether most of v is noise: it was made by a generator, not by a person.
func odd(v string) bool {
	n, size := unexplained(v)
	return n >= 8 && 2*n >= size
}

// ragged reports whether v, which has no separators, changes between capitals, small
// letters and figures more often than names do.
func ragged(v string) bool {
	segments := 0
	for i := 0; i < len(v); segments++ {
		if !alnum[v[i]] {
			return false
		}
		i = segment(v, i)
	}
	return segments >= 4 && len(v) <= 3*segments
}

// hexWithDashes reports whether v is made of hexadecimal digits, 32 or more, and dashes,
// and is no UUID.
func hexWithDashes(v string) bool {
	return strings.Contains(v, "-") && len(v) > 32 && run(v, 0, hexDash) == len(v) && mixed(v) && !uuid(v)
}

var hexDash = bytesOf("0-9a-f-")

// random reports whether v is odd, or hexadecimal digits.
func random(v string) bool { return odd(v) || mixed(v) && digest(v) }

// digest reports whether v has the form of a hash or an id of a machine: hexadecimal
// digits, a UUID, a name of an algorithm before them.
func digest(v string) bool {
	if i := strings.LastIndexByte(v, ':'); i > 2 && strings.HasPrefix(strings.ToLower(v), "sha") {
		return true
	}
	v = strings.TrimPrefix(v, "0x")
	low := strings.ToLower(v)
	if low != v && strings.ToUpper(v) != v {
		return false
	}
	hexes := 0
	for i := range len(low) {
		switch {
		case isHex(low[i]):
			hexes++
		case low[i] != '-':
			return false
		}
	}
	return hexes == len(v) && len(v) >= 7 || uuid(v)
}

// uuid reports whether v has the form of a UUID.
func uuid(v string) bool {
	if len(v) != 36 {
		return false
	}
	for i := range len(v) {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (v[i] == '-') || !dash && !isHex(v[i]) {
			return false
		}
	}
	return true
}
