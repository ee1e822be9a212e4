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
// with that line, which may turn while the items stay.
func forbidden(text string) []match {
	var out []match
	above, lead := false, false // the heading forbids, and what is above the list
	at := 0
	for line := range strings.Lines(text) {
		mark := listItem.FindString(line)
		switch {
		case strings.TrimSpace(line) == "":
		case heading.MatchString(line):
			above = patternOf("forbids-below").MatchString(normalize(line))
			lead = above
		case mark != "":
			if item := normalize(line[len(mark):]); lead && item != "" {
				out = append(out, match{at + len(mark), item})
			}
		case strings.HasSuffix(strings.TrimRight(line, "*_ \t\r\n"), ":"):
			lead = patternOf("forbids-below").MatchString(normalize(line))
		case line[0] != ' ' && line[0] != '\t': // a paragraph; what is indented belongs to an item
			lead = above
		}
		at += len(line)
	}
	return out
}

// asRule is a forbidden item as a sentence.
func asRule(item match) match { return match{item.at, "never " + item.text} }
