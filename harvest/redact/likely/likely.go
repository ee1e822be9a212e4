// Package likely judges by the words around a token whether it is a secret, with a linear
// model that was learnt from texts whose secrets are known.
package likely

import (
	_ "embed"
	"math"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// weights are those of the model, one for each slot of the hashed features (Weinberger et
// al., 2009), in parts of scale. TestWeights learns them.
//
//go:generate go test -run TestWeights -update ..
//go:embed weights.bin
var weights string

// Slots is how many features the model can tell apart.
const Slots = 1 << 15

const scale = 24

// Pack makes weights.bin of weights.
func Pack(w []float64) []byte {
	out := make([]byte, len(w))
	for i, v := range w {
		out[i] = byte(int8(math.Round(max(-127, min(127, v*scale)))))
	}
	return out
}

// A Kind is what a text is.
type Kind byte

// The kinds of texts.
const (
	Typed  Kind = 't' // by a person
	Said   Kind = 's' // by an agent
	Output Kind = 'o' // of a tool
)

// A Token is a part of a text, and what it looks like by itself: a word for that, and
// features in the caller's own terms.
type Token struct {
	Start, End int
	Looks      string
	Group      string // of looks, that words mean the same for
	More       []string
}

// A Text is a text whose tokens are judged.
type Text struct {
	s     string
	kind  Kind
	words []word
}

// word is a word of the text: the hash of its beginning in lower case.
type word struct {
	start, end int
	stem       uint32
}

// NewText finds the words of s.
func NewText(s string, kind Kind) *Text {
	t := &Text{s: s, kind: kind, words: make([]word, 0, len(s)/6+1)} // most have five letters and a blank
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		if r == '[' && strings.HasPrefix(s[i:], taken) {
			if end := strings.IndexByte(s[i:min(len(s), i+64)], ']'); end > 0 { // whatever it was
				t.words = append(t.words, word{i, i + end + 1, noWord})
				i += end + 1
				continue
			}
		}
		if !inWord(r) {
			i += n
			continue
		}
		w := word{start: i}
		const long = 20 // bytes: no word
		h, letters, digits := newHash(), 0, true
		for i < len(s) {
			if r, n = rune(s[i]), 1; r >= utf8.RuneSelf {
				r, n = utf8.DecodeRuneInString(s[i:])
			}
			if !inWord(r) {
				break
			}
			if letters < 6 {
				h = h.rune(unicode.ToLower(r))
			}
			letters++
			digits = digits && r <= '9'
			i += n
		}
		w.end, w.stem = i, uint32(h)
		switch {
		case digits:
			w.stem = number
		case i-w.start > long:
			w.stem = noWord
		}
		t.words = append(t.words, w)
	}
	return t
}

// taken is what the place of a secret begins with that was taken out.
const taken = "[redacted:"

func inWord(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9' || r == '\''
	}
	return unicode.IsLetter(r) || unicode.IsMark(r)
}

// How far the words are that say what a token is, in bytes, and how many of them count.
const (
	before, manyBefore = 160, 12
	after, manyAfter   = 100, 8
	above, manyAbove   = 300, 20 // in the lines before
	below, manyBelow   = 120, 10
)

// Score is the logarithm of the odds that a token is a secret, about as many of those that
// were learnt from are secrets as are not.
func (t *Text) Score(k Token) float64 {
	sum := 0
	t.features(k, func(slot uint32) { sum += int(int8(weights[slot])) })
	return float64(sum) / scale
}

// Features are the slots of a token's features, from which the model learns.
func (t *Text) Features(k Token) (out []uint32) {
	t.features(k, func(slot uint32) { out = append(out, slot) })
	return out
}

// features calls f with the slot of each feature of a token.
func (t *Text) features(k Token, f func(slot uint32)) {
	add := func(name byte, a, b uint32) {
		h := (hash(name)*16777619 ^ hash(a)) * 0x9E3779B1
		h = (h ^ hash(b) ^ h>>15) * 0x85EBCA6B
		f(uint32(h^h>>13) % Slots)
	}
	looks, group, kind := hashOf(k.Looks), hashOf(k.Group), uint32(t.kind)
	add('0', 0, 0)
	add('k', kind, 0)
	add('l', looks, 0)
	add('L', looks, kind)
	for i, m := range k.More {
		add('m', hashOf(m), uint32(i))
		add('M', hashOf(m), looks)
	}
	prev, next := uint32('^'), uint32('$')
	if k.Start > 0 {
		prev = uint32(t.s[k.Start-1])
	}
	if k.End < len(t.s) {
		next = uint32(t.s[k.End])
	}
	add('<', prev, 0)
	add('>', next, 0)
	add('x', prev<<8|next, looks)

	from, to := max(0, k.Start-above), min(len(t.s), k.End+below) // of its line, as far as it matters
	if i := strings.LastIndexByte(t.s[from:k.Start], '\n'); i >= 0 {
		from += i + 1
	}
	if i := strings.IndexByte(t.s[k.End:to], '\n'); i >= 0 {
		to = k.End + i
	}
	// What is alone on its line is spoken of above or below; else a paragraph is enough.
	top, bottom := from-above, to+below
	if from == k.Start && to == k.End {
		add('a', looks, 0)
	} else {
		if i := strings.LastIndex(t.s[max(0, top):from], "\n\n"); i >= 0 {
			top = max(0, top) + i
		}
		if i := strings.Index(t.s[to:min(len(t.s), bottom)], "\n\n"); i >= 0 {
			bottom = to + i
		}
	}
	first := sort.Search(len(t.words), func(i int) bool { return t.words[i].end > k.Start })
	i, n := first-1, 0
	for last := uint32(0); i >= 0 && n < manyBefore && t.words[i].start >= max(from, k.Start-before); i, n = i-1, n+1 {
		w := t.words[i].stem
		if n < 3 {
			add('p'+byte(n), w, 0)
			add('P'+byte(n), w, looks)
		}
		add('b', w, group)
		add('B', w, 0)
		if n > 0 && n < 7 {
			add('2', w, last)
		}
		last = w
	}
	for i >= 0 && t.words[i].start >= from {
		i--
	}
	for n = 0; i >= 0 && n < manyAbove && t.words[i].start >= top; i, n = i-1, n+1 {
		add('f', t.words[i].stem, kind)
	}
	for i = first; i < len(t.words) && t.words[i].start < k.End; {
		i++
	}
	for n = 0; i < len(t.words) && n < manyAfter && t.words[i].start < min(to, k.End+after); i, n = i+1, n+1 {
		w := t.words[i].stem
		if n < 2 {
			add('n'+byte(n), w, 0)
			add('N'+byte(n), w, looks)
		}
		add('e', w, group)
		add('B', w, 0)
	}
	for i < len(t.words) && t.words[i].start < to {
		i++
	}
	for n = 0; i < len(t.words) && n < manyBelow && t.words[i].start < bottom; i, n = i+1, n+1 {
		add('g', t.words[i].stem, kind)
	}
}

// hash is FNV-1a.
type hash uint32

const (
	number uint32 = 1
	noWord uint32 = 2
)

func newHash() hash { return 2166136261 }

func (h hash) rune(r rune) hash { return (h ^ hash(r)) * 16777619 }

func hashOf(s string) uint32 {
	h := newHash()
	for i := range len(s) {
		h = (h ^ hash(s[i])) * 16777619
	}
	return uint32(h)
}
