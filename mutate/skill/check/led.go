package check

import (
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

var (
	listItem = lazyregexp.New(`^[ \t>]*(?:[-*+]|\d+[.)])[ \t]+`)
	heading  = lazyregexp.New(`^ {0,3}#{1,6}[ \t]`)
)

// forbidden are the items of lists that a line right above them ("Do none of these:"), or
// else the heading of their section ("Never"), forbids. Such an item is a rule only together
// with that line, which may turn while the items stay. If that line leaves a way out, each
// item has it.
func forbidden(text string) []match {
	var out []match
	above, lead := false, false // the heading forbids, and what is above the list
	way := ""                   // out, of what is above the list
	at := 0
	for line := range strings.Lines(text) {
		mark := listItem.FindString(line)
		switch {
		case strings.TrimSpace(line) == "":
		case heading.MatchString(line):
			above = patternOf("forbids-below").MatchString(normalize(line))
			lead, way = above, ""
		case mark != "":
			if item := normalize(line[len(mark):]); lead && item != "" {
				out = append(out, match{at + len(mark), item + way})
			}
		case strings.HasSuffix(strings.TrimRight(line, "*_ \t\r\n"), ":"):
			said := normalize(line)
			lead, way = patternOf("forbids-below").MatchString(said), ""
			if patternOf("hedged").MatchString(said) {
				way = ", " + said
			}
		case line[0] != ' ' && line[0] != '\t': // a paragraph; what is indented belongs to an item
			lead, way = above, ""
		}
		at += len(line)
	}
	return out
}

// asRule is a forbidden item as a sentence.
func asRule(item match) match { return match{item.at, "never " + item.text} }
