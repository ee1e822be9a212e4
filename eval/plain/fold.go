package plain

import (
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// label matches what precedes a line's text: blanks, and words that are followed by two
// blanks or more ("  verdict      promote: …", "ok       data folder  …").
var label = lazyregexp.New(`^ *(?:\S+(?: \S+)* {2,})*`)

// Fold is text whose lines take at most width columns if possible: they are folded
// between words, and continue below the line's text. A name, a path or `what is to be
// typed` is never cut, so it can be copied. A width of 0 or less folds nothing.
func Fold(text string, width int) string {
	if width <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		body, end := strings.CutSuffix(line, "\n")
		b.WriteString(fold(body, width))
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func fold(line string, width int) string {
	if Width(line) <= width {
		return line
	}
	head := label.FindString(line)
	indent := Width(head)
	words := tokens(line[len(head):])
	if indent > width/2 || slices.ContainsFunc(words, func(w string) bool { return indent+Width(w) > width && 2+Width(w) <= width }) {
		indent = 2
	}
	var b strings.Builder
	b.WriteString(head)
	used, empty := Width(head), true
	for _, word := range words {
		n := Width(word)
		switch {
		case empty && used+n > width && indent < used:
			b.Reset()
			b.WriteString(strings.TrimRight(head, " ") + "\n" + strings.Repeat(" ", indent))
			used = indent
		case !empty && used+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			used = indent
		case !empty:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
		empty = false
	}
	return b.String()
}

// tokens are the words of a line; text between backquotes is one.
func tokens(line string) (out []string) {
	quoted := false
	for _, word := range strings.Fields(line) {
		if quoted {
			out[len(out)-1] += " " + word
		} else {
			out = append(out, word)
		}
		quoted = quoted != (strings.Count(word, "`")%2 == 1)
	}
	if quoted {
		return strings.Fields(line) // a quote without an end is none
	}
	return out
}
