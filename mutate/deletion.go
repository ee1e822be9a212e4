package mutate

import (
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// Removed lists what child lacks of parent's body, line by line, where nothing but
// deletions makes the difference: every line of child stands in parent in the same
// order, or is a line of parent without some of its sentences. Of a line that lost
// sentences only these are listed, as one. only is false where child adds or changes
// anything; blank lines and the numbers of list items do not count.
func Removed(parent, child *skill.Document) (lines []string, only bool) {
	if parent.Description() != child.Description() {
		return nil, false
	}
	left := bodyLines(child)
	for _, line := range bodyLines(parent) {
		if len(left) == 0 {
			lines = append(lines, strings.Join(line, " "))
			continue
		}
		rest, ok := without(line, left[0])
		if !ok {
			lines = append(lines, strings.Join(line, " "))
			continue
		}
		left = left[1:]
		if len(rest) > 0 {
			lines = append(lines, strings.Join(rest, " "))
		}
	}
	if len(left) > 0 {
		return nil, false
	}
	return lines, true
}

// bodyLines are the lines of a body that are not blank, each as its sentences.
func bodyLines(d *skill.Document) (out [][]string) {
	for line := range strings.Lines(string(d.Body())) {
		var parts []string
		for _, s := range cutStatements(line) {
			parts = append(parts, s.text)
		}
		if len(parts) == 0 && strings.TrimSpace(line) != "" {
			parts = []string{strings.TrimSpace(line)} // the mark of an empty item
		}
		if parts != nil {
			out = append(out, parts)
		}
	}
	return out
}

// without returns the sentences of line that some lacks; ok is false where some
// holds another one, or in another order.
func without(line, some []string) (rest []string, ok bool) {
	for _, s := range line {
		if len(some) > 0 && s == some[0] {
			some = some[1:]
		} else {
			rest = append(rest, s)
		}
	}
	return rest, len(some) == 0
}
