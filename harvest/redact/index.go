package redact

import (
	"slices"
	"sync"
)

// A rule looks for one kind of secret around one of its keywords.
type rule struct {
	kind string
	// match looks at the keyword at s[at:] and returns the secret's ends;
	// ok is false if it is none.
	match func(s string, at int) (start, end int, ok bool)
	exact bool // the keyword is case-sensitive
	vague bool // see span
	word  string
}

// index finds keywords in one pass: the first three bytes of every keyword,
// letter case folded, hashed into a table that stays in the first-level cache.
type index struct {
	slots   [1 << 14]uint16 // 0, or 1 + the bucket of the keywords that hash here
	buckets [][]rule
}

// fold maps three bytes to one number, letters to lower case (and a few other
// bytes onto each other, which only costs a comparison).
func fold(a, b, c byte) uint32 {
	return uint32(a|0x20) | uint32(b|0x20)<<8 | uint32(c|0x20)<<16
}

func slot(key uint32) uint32 { return key * 0x9E3779B1 >> 18 }

func newIndex(rules []rule) *index {
	ix := new(index)
	for _, r := range rules {
		at := &ix.slots[slot(fold(r.word[0], r.word[1], r.word[2]))]
		if *at == 0 {
			ix.buckets = append(ix.buckets, nil)
			*at = uint16(len(ix.buckets))
		}
		ix.buckets[*at-1] = append(ix.buckets[*at-1], r)
	}
	for _, b := range ix.buckets { // the longest keyword says most about the kind
		slices.SortStableFunc(b, func(a, b rule) int { return len(b.word) - len(a.word) })
	}
	return ix
}

var detectors = sync.OnceValue(func() *index {
	return newIndex(slices.Concat(tokenRules(), contextRules(), spokenRules(), carrierRules(carrierTable)))
})

// scan returns what the rules find in s, in no order that matters.
func scan(s string) []span { return detectors().find(s) }

func (of *index) find(s string) (found []span) {
	if len(s) < 3 {
		return nil
	}
	slots := &of.slots
	key := fold(0, s[0], s[1])
	for i := 2; i < len(s); i++ {
		key = key>>8 | uint32(s[i]|0x20)<<16
		bucket := slots[slot(key)&(1<<14-1)]
		if bucket == 0 {
			continue
		}
		rules := of.buckets[bucket-1]
		for k := range rules {
			r := &rules[k]
			if !hasWord(s[i-2:], r.word, r.exact) {
				continue
			}
			start, end, ok := r.match(s, i-2)
			if !ok || published(s[start:end]) {
				continue
			}
			found = append(found, span{start, end, r.kind, r.vague})
			if !r.vague && end-i > 2 { // what stands inside is part of it
				i = end - 1
				key = fold(0, s[i-1], s[i])
			}
			break
		}
	}
	return found
}

// hasWord reports whether s begins with word; unless exact, word is in lower
// case and s may be in any.
func hasWord(s, word string, exact bool) bool {
	if len(s) < len(word) {
		return false
	}
	if exact {
		return s[:len(word)] == word
	}
	for i := range len(word) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}
