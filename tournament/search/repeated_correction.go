package search

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

const (
	// fewSame corrections in the same words are no pattern yet.
	fewSame = 3
	// sameWords is the share of common words from which on two corrections
	// count as the same sentence.
	sameWords = .8
)

// repeatedCorrection warns if most corrections of the cases behind a verdict
// are the same sentence; "" if they are not. A text that a program put into
// every session looks like that; so does a person who has to repeat a
// correction again and again. Only that person can tell.
func repeatedCorrection(cases []eval.Case) string {
	type group struct {
		words map[string]bool
		text  string
		n     int
	}
	var groups []*group
	var most *group
	all := 0
	for i := range cases {
		c := &cases[i]
		said, _, _ := strings.Cut(c.Said(), " / ")
		if c.Source == nil || c.Source.Outcome != "corrected" || c.Generated() || said == "" {
			continue
		}
		all++
		words := wordsOf(said)
		var g *group
		for _, old := range groups {
			if alike(old.words, words) {
				g = old
				break
			}
		}
		if g == nil {
			g = &group{words: words, text: said}
			groups = append(groups, g)
		}
		if g.n++; most == nil || g.n > most.n {
			most = g
		}
	}
	if most == nil || most.n < fewSame || 2*most.n <= all {
		return ""
	}
	return fmt.Sprintf("%d of %d corrections are the same sentence: “%s” — check that you said it", most.n, all, plain.Excerpt(most.text, 120))
}

func wordsOf(s string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		set[w] = true
	}
	return set
}

func alike(a, b map[string]bool) bool {
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	return float64(both) >= sameWords*float64(len(a)+len(b)-both)
}
