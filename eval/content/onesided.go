package content

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

const (
	// fewSame corrections that are alike are no pattern yet.
	fewSame = 3
	// sameWords is the share of common words from which on two corrections
	// count as the same sentence.
	sameWords = .8
)

// OneSided warns if most corrections of cases are the same sentence, of one session, or of one
// project while the cases are of several. A text that a program put into every session looks
// like that; so does a person who has to repeat a correction again and again. Only that person
// can tell.
func OneSided(cases []eval.Case) (warnings []string) {
	type group struct {
		words map[string]bool
		text  string
		n     int
	}
	var groups []*group
	var most *group
	all := 0
	sessions, projects, everywhere := map[string]int{}, map[string]int{}, map[string]bool{}
	for i := range cases {
		c := &cases[i]
		if c.Workspace != nil {
			everywhere[c.Workspace.Repo] = true
		}
		said, _, _ := strings.Cut(c.Said(), " / ")
		if c.Source == nil || c.Source.Outcome != "corrected" || c.Generated() || said == "" {
			continue
		}
		all++
		if c.Source.Session != "" {
			sessions[c.Source.Session]++
		}
		if c.Workspace != nil {
			projects[c.Workspace.Repo]++
		}
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
	mostly := func(n int) bool { return n >= fewSame && 2*n > all }
	if most != nil && mostly(most.n) {
		warnings = append(warnings, fmt.Sprintf("%d of %d corrections are the same sentence: “%s” — check that you said it", most.n, all, plain.Excerpt(most.text, 120)))
	}
	for id, n := range sessions { // of one at most
		if mostly(n) {
			warnings = append(warnings, fmt.Sprintf("%d of %d corrections are of one session, %s", n, all, plain.Excerpt(id, 40)))
		}
	}
	for repo, n := range projects { // of one at most
		if mostly(n) && len(everywhere) > 1 {
			warnings = append(warnings, fmt.Sprintf("%d of %d corrections are of one project, %s", n, all, plain.Excerpt(filepath.Base(repo), 40)))
		}
	}
	return warnings
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
