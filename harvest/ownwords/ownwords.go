// Package ownwords separates what a person wrote in a message from what they pasted or
// quoted, and from what a program put there.
package ownwords

import (
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
)

// A Part is a piece of a message in a person's name.
type Part struct {
	Text string
	// Own is true for what the person wrote. The rest was pasted, quoted or added by a
	// program: context for a request, never feedback.
	Own bool
}

// Parts splits a message into what the person wrote and what they pasted or quoted. A
// quotation is a block: whole lines between two delimiters (fences, tags, quotation
// marks), or lines of a shape that people do not type (logs, stack traces, diffs,
// tables, mails; see shapes.go). A mark within a sentence is part of that sentence. The
// texts of the parts, concatenated, are text.
//
// A paste can hold anything, including the end of its own quotation. So a quotation
// lasts to the last mark that can end it: words between two fences count as pasted.
func Parts(text string) []Part {
	var out []Part
	at, m := 0, marked(text)
	for _, q := range append(m.quoted, span{len(text), len(text)}) {
		if q.from > at {
			out = append(out, Part{text[at:q.from], true})
		}
		if q.to > q.from {
			out = append(out, Part{text[q.from:q.to], false})
		}
		at = q.to
	}
	return out
}

// Of is the text of a message that the person wrote: its own Parts.
func Of(text string) string {
	m := marked(text)
	return strings.TrimSpace(m.rest())
}

func marked(text string) marking {
	m := marking{text: text}
	m.fences()
	m.tags()
	m.placeholders()
	m.passages()
	m.lines()
	return m
}

// marking is a text and its quoted places, in order and not touching each other.
type marking struct {
	text   string
	quoted []span
}

type span struct{ from, to int }

// quote adds a place. Places mostly come in order; then it is appended or merged with
// the last.
func (m *marking) quote(from, to int) {
	if from >= to {
		return
	}
	i := len(m.quoted)
	for i > 0 && m.quoted[i-1].to >= from {
		i--
	}
	j := i
	for ; j < len(m.quoted) && m.quoted[j].from <= to; j++ {
		from, to = min(from, m.quoted[j].from), max(to, m.quoted[j].to)
	}
	m.quoted = slices.Replace(m.quoted, i, j, span{from, to})
}

// is reports whether the byte at is quoted.
func (m *marking) is(at int) bool {
	i := sort.Search(len(m.quoted), func(i int) bool { return m.quoted[i].to > at })
	return i < len(m.quoted) && m.quoted[i].from <= at
}

// rest is the text that is not quoted.
func (m *marking) rest() string {
	if len(m.quoted) == 0 {
		return m.text
	}
	var b strings.Builder
	at := 0
	for _, q := range append(m.quoted, span{len(m.text), len(m.text)}) {
		if part := m.text[at:q.from]; part != "" {
			if b.Len() > 0 && !unicode.IsSpace(rune(part[0])) && !strings.HasSuffix(b.String(), "\n") {
				b.WriteByte(' ') // so that two words do not become one
			}
			b.WriteString(part)
		}
		at = q.to
	}
	return b.String()
}

// toEOL is the end of the line that contains at.
func (m *marking) toEOL(at int) int {
	if n := strings.IndexByte(m.text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(m.text)
}

// People also begin a fence of backticks or quotes after their own words.
var fenceMarks = []*lazyregexp.Regexp{lazyregexp.New("`{3,}"), lazyregexp.New(`"{3}`), lazyregexp.New(`(?m)^[ \t>]*~{3,}`)}

// opening matches a fence with a language: it ends no block.
var opening = lazyregexp.New("^[`~]+[A-Za-z]")

// fences quotes from the first fence to the last, or to the end if one is left open. A
// mark within a line is part of its sentence ("no ``` please") if a blank follows it,
// or if no other mark follows.
func (m *marking) fences() {
	for _, re := range fenceMarks {
		at := re.FindAllStringIndex(m.text, -1)
		for len(at) > 0 && m.word(at[0], len(at) == 1) {
			at = at[1:]
		}
		if len(at) == 0 {
			continue
		}
		last := at[len(at)-1]
		end := last[1]
		if len(at)%2 == 1 || opening.MatchString(strings.TrimLeft(m.text[last[0]:], " \t>")) {
			end = len(m.text)
		}
		m.quote(at[0][0], end)
	}
}

// toNextLine matches what may follow the mark that opens a fence.
var toNextLine = lazyregexp.New(`^[\w+#.-]*[ \t\r]*(?:\n|$)`)

// word reports whether a fence's mark is part of a sentence; only is true for the last
// mark of a text.
func (m *marking) word(at []int, only bool) bool {
	after := m.text[at[1]:]
	if m.begins(at[0]) {
		return m.text[at[0]] == '"' && strings.HasPrefix(after, " ")
	}
	return strings.HasPrefix(after, " ") || only && (m.text[at[0]] == '"' || !toNextLine.MatchString(after))
}

// begins reports whether only blanks and quotation marks come before at in its line. It
// looks no further than to the next other character: a line may be long.
func (m *marking) begins(at int) bool {
	before := strings.TrimRight(m.text[:at], " \t>")
	return before == "" || strings.HasSuffix(before, "\n")
}

// placeholder matches the replacement of a paste, "[Pasted text #1 +3 lines]".
var (
	placeholder = lazyregexp.New(`\[(?i:pasted|image|screenshot)\b[^\]\n]*\]`)
	moreLines   = lazyregexp.New(`\+\d+ lines`)
)

// placeholders quotes the placeholders of pastes. A program that expands one puts the
// text on the lines below.
func (m *marking) placeholders() {
	gap := -1 // the first empty line after the last paste so far
	for _, at := range placeholder.FindAllStringIndex(m.text, -1) {
		end := at[1]
		if eol := m.toEOL(end); eol < len(m.text) && strings.TrimSpace(m.text[end:eol]) == "" && moreLines.MatchString(m.text[at[0]:end]) {
			if gap < eol {
				if gap = strings.Index(m.text[eol:], "\n\n"); gap < 0 {
					gap = len(m.text)
				} else {
					gap += eol
				}
			}
			end = gap
		}
		m.quote(at[0], end)
	}
}
