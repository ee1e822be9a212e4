package redact

import (
	"strings"

	"github.com/skill-evolve/evolve/harvest/redact/wordlike"
)

// odd reports whether most of v is noise: it was made by a generator, not by a person.
func odd(v string) bool {
	n, size := wordlike.Unexplained(v)
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
		i = wordlike.Segment(v, i)
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
	if i := strings.LastIndexByte(v, ':'); i > 2 && strings.HasPrefix(strings.ToLower(v), "sha") && run(v, i+1, base64ish) == len(v) {
		name := strings.TrimPrefix(strings.ToLower(v[3:i]), "-")
		if name == "" || name[0] >= '0' && name[0] <= '9' { // and no user of such a name
			return true
		}
	}
	v = strings.TrimPrefix(v, "0x")
	hexes, lower, upper := 0, false, false
	for i := range len(v) {
		switch c := v[i]; {
		case isHex(c):
			hexes++
			lower, upper = lower || c >= 'a', upper || c >= 'A' && c <= 'F'
		case c != '-':
			return false
		}
	}
	return !(lower && upper) && (hexes == len(v) && len(v) >= 7 || uuid(v))
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
