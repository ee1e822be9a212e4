package harvest

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPatternIsItsExpression: looking for words first changes no answer, for
// every cue of the lexicon, on texts made of the lexicon's own words.
func TestPatternIsItsExpression(t *testing.T) {
	var all []cue
	for _, list := range [][]cue{discard, refuse, accept, correct} {
		all = append(all, list...)
	}
	var vocabulary []string
	var plain []*regexp.Regexp
	for _, c := range all {
		plain = append(plain, regexp.MustCompile(c.re.String()))
		vocabulary = append(vocabulary, regexp.MustCompile(`[a-z']{2,}`).FindAllString(c.re.String(), -1)...)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 8).Draw(t, "words"), " ")
		for i, c := range all {
			if got, want := c.re.MatchString(text), plain[i].MatchString(text); got != want {
				t.Fatalf("%q with words first: %v, alone: %v, for %s", text, got, want, c.re)
			}
		}
	})
}
