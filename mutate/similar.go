package mutate

import (
	"strings"
	"unicode"
)

// Overlap is the share of the shorter text's content words that the other one
// holds as well, by stems, in [0,1]; 0 if one has none.
func Overlap(a, b string) float64 {
	wa, wb := words(a), words(b)
	if len(wa) == 0 || len(wb) == 0 {
		return 0
	}
	return float64(shared(wa, wb)) / float64(min(len(wa), len(wb)))
}

func shared(a, b map[string]bool) (n int) {
	for w := range a {
		if b[w] {
			n++
		}
	}
	return n
}

// Similarity is the Jaccard index of two texts' content words, by stems, in
// [0,1]. A text without such words is like no other.
func Similarity(a, b string) float64 {
	if len(words(a)) == 0 || len(words(b)) == 0 {
		return 0
	}
	return similarity(a, b)
}

// Repeats reports whether text says what a line says beyond was, its former wording: it
// holds all but a quarter of the content words, at most one of three. A line that adds none is
// compared as a whole.
func Repeats(text, line, was string) bool {
	has, say := signs(text, words), signs(line, words)
	for w := range signs(was, words) {
		delete(say, w)
	}
	if len(say) == 0 {
		say = signs(line, words)
	}
	if len(say) == 0 {
		has, say = signs(text, allWords), signs(line, allWords)
	}
	n, held := len(say), shared(say, has)
	return n > 0 && (4*held >= 3*n || n >= 3 && held >= n-1)
}

// signs are the words by which a text is recognised; of scripts that put no space between
// words, Chinese characters and pairs of other letters.
func signs(s string, cut func(string) map[string]bool) map[string]bool {
	out := map[string]bool{}
	for w := range cut(s) {
		r := []rune(w)
		if len(r) < 3 || !strings.ContainsFunc(w, func(r rune) bool {
			return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
		}) {
			out[w] = true
			continue
		}
		for i, l := range r {
			if unicode.Is(unicode.Han, l) {
				out[string(l)] = true
			} else if i+1 < len(r) && !unicode.Is(unicode.Han, r[i+1]) {
				out[string(r[i:i+2])] = true
			}
		}
	}
	return out
}
