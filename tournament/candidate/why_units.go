package candidate

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// A unit is the smallest piece of a text that can be taught: a sentence of a
// paragraph or of a list item, a heading, or a block of code.
type unit struct {
	Text string // as written, without a list marker, spaces folded
	Line int    // 1-based in the file, that it begins on
}

// key identifies a unit.
func (u unit) key() string { return strings.Join(strings.Fields(u.Text), " ") }

var (
	listMarker  = lazyregexp.New(`^\s*(?:[-*+]|\d{1,9}[.)])\s+`)
	placeholder = lazyregexp.New(`^\s*<<KERNEL(?:~\d+)? \d+(?:: [^>]*)?>>\s*$`)
	sentenceEnd = lazyregexp.New(`[.!?]["'”’)\]*_]*\s+`)
	abbreviated = lazyregexp.New(`(?i)(?:^|[\s(])(?:e\.g|i\.e|vs|cf|etc|approx|no|fig)\.\s+$`)
)

// unitsOf cuts the changeable part of a text into units, in order. The
// description comes first; the kernel of the body is left out.
func unitsOf(doc *skill.Document) []unit {
	var out []unit
	raw := strings.Split(strings.ReplaceAll(string(doc.Render()), "\r\n", "\n"), "\n")
	at := 0 // in raw: units are in the order of the file
	add := func(text, firstLine string) {
		text = strings.TrimSpace(text)
		if text == "" {
			return
		}
		line := 0
		for i := at; i < len(raw); i++ {
			if strings.Contains(raw[i], firstLine) {
				line, at = i+1, i
				break
			}
		}
		out = append(out, unit{text, line})
	}
	for _, s := range sentencesOf(doc.Description()) {
		add(s, firstWords(s))
	}
	view := doc.View()
	for _, b := range skill.Blocks(view) {
		text := view[b.Start:b.End]
		switch b.Kind {
		case "kernel":
		case "code":
			first, _, _ := strings.Cut(strings.TrimLeft(text, "\n"), "\n")
			add(strings.Trim(text, "\n"), first)
		case "paragraph", "item":
			for _, piece := range pieces(text) {
				for _, s := range sentencesOf(piece) {
					add(strings.Join(strings.Fields(s), " "), firstWords(s))
				}
			}
		default:
			for line := range strings.SplitSeq(text, "\n") {
				if !placeholder.MatchString(line) {
					add(line, strings.TrimSpace(line))
				}
			}
		}
	}
	return out
}

// An Edit is one unit in which two texts differ: reworded, added (Was is "") or removed (Is is
// ""). Line is that of the second text, 0 for a removed unit.
type Edit struct {
	Was, Is string
	Line    int
}

// Edits lists the units in which two texts differ, in the order of the second, what was
// removed last.
func Edits(from, to *skill.Document) []Edit { return edits(unitsOf(from), unitsOf(to)) }

func edits(from, to []unit) (out []Edit) {
	has := func(list []unit) map[string]bool {
		m := map[string]bool{}
		for _, u := range list {
			m[u.key()] = true
		}
		return m
	}
	before, after := has(from), has(to)
	gone := slices.DeleteFunc(slices.Clone(from), func(u unit) bool { return after[u.key()] })
	for _, u := range to {
		if before[u.key()] {
			continue
		}
		e := Edit{Is: u.Text, Line: u.Line}
		if i := nearest(u, gone); i >= 0 {
			e.Was = gone[i].Text
			gone = slices.Delete(gone, i, i+1)
		}
		out = append(out, e)
	}
	for _, u := range gone {
		out = append(out, Edit{Was: u.Text})
	}
	return out
}

// Units are the texts of a document's units, in order.
func Units(doc *skill.Document) (out []string) {
	for _, u := range unitsOf(doc) {
		out = append(out, u.Text)
	}
	return out
}

// pieces cuts a paragraph or a list item before each nested item, and removes
// the markers.
func pieces(text string) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		m := listMarker.FindString(line)
		switch {
		case placeholder.MatchString(line):
		case m != "" || len(out) == 0:
			out = append(out, line[len(m):])
		default:
			out[len(out)-1] += "\n" + line
		}
	}
	return out
}

// sentencesOf cuts between the end of a sentence and a capital that begins
// another.
func sentencesOf(text string) []string {
	var out []string
	from := 0
	for _, m := range sentenceEnd.FindAllStringIndex(text, -1) {
		next, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[m[1]:], "\"'“‘(*_`["))
		if !unicode.IsUpper(next) && !unicode.Is(unicode.Lo, next) || abbreviated.MatchString(text[from:m[1]]) {
			continue
		}
		out = append(out, strings.TrimSpace(text[from:m[1]]))
		from = m[1]
	}
	if rest := strings.TrimSpace(text[from:]); rest != "" {
		out = append(out, rest)
	}
	return out
}

// firstWords is the part of a sentence on its first line.
func firstWords(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(first)
}
