package mutate

import (
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// Removed lists what child lacks of parent's body, line by line, if child
// differs by deletions only: every line of child is a line of parent in the
// same order, with or without some of its sentences. Of a line that lost
// sentences only these are listed, as one. only is false if child adds or
// changes anything; blank lines, the numbers of list items, and line breaks
// within a paragraph do not count.
func Removed(parent, child *skill.Document) (lines []string, only bool) {
	if parent.Description() != child.Description() {
		return nil, false
	}
	if lines, only = removed(bodyLines(parent), bodyLines(child)); only {
		return lines, true
	}
	return removed(paragraphs(parent), paragraphs(child))
}

// removed lists what left lacks of lines, each given as its sentences.
func removed(all, left [][]string) (lines []string, only bool) {
	for _, line := range all {
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
func bodyLines(d *skill.Document) [][]string { return sentencesByLine(string(d.Body())) }

func sentencesByLine(text string) (out [][]string) {
	for line := range strings.Lines(text) {
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

// paragraphs are the paragraphs and list items of a body, each as its
// sentences with single blanks, and all other lines.
func paragraphs(d *skill.Document) (out [][]string) {
	body := string(d.Body())
	for _, b := range skill.Blocks(body) {
		text := body[b.Start:b.End]
		if !prose(b.Kind, text) {
			out = append(out, sentencesByLine(text)...)
			continue
		}
		var parts []string
		for _, s := range cutStatements(text) {
			parts = append(parts, strings.Join(strings.Fields(s.text), " "))
		}
		if parts != nil {
			out = append(out, parts)
		}
	}
	return out
}

// without returns the sentences of line that some lacks; ok is false if some
// has others, or another order.
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
