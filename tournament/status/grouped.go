package status

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"github.com/skill-evolve/evolve/tournament/sleep"
)

// groupedFrom is the least number of skills whose equal lines are merged into
// one.
const groupedFrom = 3

var (
	oneChallenger = lazyregexp.New(`new text [0-9a-f]{12}: `)
	someCases     = lazyregexp.New(`\b[0-9]+ (unseen requests|fresh cases)\b`)
)

// grouped merges lines of "NAME: …" that ask for labels and are alike for
// many skills into one, at the place of the first: apart from counts of cases
// and the name of a challenger.
func grouped(lines []string) []string {
	type group struct {
		text  string
		names []string
		lines []string
	}
	var all []*group
	by := map[string]*group{}
	for _, line := range lines {
		name, text := sharedWords(line)
		g := by[text]
		if g == nil {
			g = &group{text: text}
			by[text], all = g, append(all, g)
		}
		g.names, g.lines = append(g.names, name), append(g.lines, line)
	}
	var out []string
	for _, g := range all {
		if len(g.lines) < groupedFrom {
			out = append(out, g.lines...)
			continue
		}
		out = append(out, fewNames(g.names)+": "+g.text)
	}
	return out
}

// sharedWords splits a line into its skill and the text that may be true of
// others too.
func sharedWords(line string) (name, text string) {
	who, text, ok := strings.Cut(line, ": ")
	if !ok || strings.Contains(who, " ") || !strings.Contains(text, "`evolve review ") {
		return "", line
	}
	name, _, _ = strings.Cut(who, "@")
	text = someCases.ReplaceAllString(oneChallenger.ReplaceAllString(text, ""), "$1")
	return name, strings.ReplaceAll(text, " "+name+"`", " NAME`")
}

// fewNames lists the first of many names.
func fewNames(names []string) string {
	if k := len(names); k > sleep.ShownSkills {
		names = append(names[:sleep.ShownSkills:sleep.ShownSkills], fmt.Sprintf("%d more", k-sleep.ShownSkills))
	}
	return strings.Join(names, ", ")
}
