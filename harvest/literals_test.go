package harvest

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRequired(t *testing.T) {
	for expr, want := range map[string]string{
		`^no, (?:use|take) it`: "no, ",
		`foo|ba(?:r|z)`:        "foo ba",
		`\b(?:again|redo)\b`:   "again redo",
		`x?y*`:                 "",
		`(?i)thanks`:           "",
		`(?:thanks)+ so`:       "thanks",
		`[ab]c?`:               "",
	} {
		if got := strings.Join(newPattern(expr).made().need, " "); got != want && !(want == "foo ba" && strings.HasPrefix(got, "foo")) {
			t.Errorf("%s needs %q, want %q", expr, got, want)
		}
	}
}

// TestPatternIsItsExpression: looking for words first changes no answer, for
// every cue of the lexicon, on texts made of the lexicon's own words.
func TestPatternIsItsExpression(t *testing.T) {
	var all []cue
	for _, list := range [][]cue{discard, refuse, accept, correct} {
		all = append(all, list...)
	}
	var vocabulary []string
	for _, c := range all {
		vocabulary = append(vocabulary, regexp.MustCompile(`[a-z']{2,}`).FindAllString(c.re.made().re.String(), -1)...)
	}
	filtered := 0
	for _, c := range all {
		if c.re.made().need != nil {
			filtered++
		}
	}
	if 2*filtered < len(all) {
		t.Errorf("only %d of %d cues are filtered", filtered, len(all))
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 8).Draw(t, "words"), " ")
		for _, c := range all {
			if got, want := c.re.MatchString(text), c.re.made().re.MatchString(text); got != want {
				t.Fatalf("%q with words first: %v, alone: %v, for %s", text, got, want, c.re.made().re)
			}
		}
	})
}
