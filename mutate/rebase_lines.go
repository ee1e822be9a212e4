package mutate

import (
	"slices"
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// A bodyLine is a line of a text that is not blank.
type bodyLine struct {
	text    string // without blanks at its end
	section int
}

// linesOf are the lines of a text in order, as section.key compares them.
func linesOf(sections []section) (out []bodyLine) {
	for i := range sections {
		for line := range strings.Lines(sections[i].key()) {
			out = append(out, bodyLine{strings.TrimRight(line, "\n"), i})
		}
	}
	return out
}

func textsOf(lines []bodyLine) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.text
	}
	return out
}

// A chunk is a stretch of a diff3: base[base[0]:base[1]] became
// ours[0]:ours[1] on one side and theirs[0]:theirs[1] on the other; before
// and after it the three are alike.
type chunk struct{ base, ours, theirs [2]int }

// diff3 lists the stretches in which three texts differ, in order. Changes of the two
// sides that touch are one stretch.
func diff3(base, ours, theirs []string) (out []chunk) {
	mine, new := lcs.DiffLines(base, ours), lcs.DiffLines(base, theirs)
	shiftOurs, shiftTheirs := 0, 0 // the offset of a line of base on that side, after the stretches so far
	for len(mine) > 0 || len(new) > 0 {
		start, end := len(base)+1, -1
		if len(mine) > 0 {
			start = mine[0].Start
		}
		if len(new) > 0 {
			start = min(start, new[0].Start)
		}
		c := chunk{ours: [2]int{start + shiftOurs}, theirs: [2]int{start + shiftTheirs}}
		take := func(d *[]lcs.Diff, shift *int) (more bool) {
			for len(*d) > 0 && (end < 0 && (*d)[0].Start == start || (*d)[0].Start <= end) {
				k := (*d)[0]
				end, more = max(end, k.End), true
				*shift += k.ReplEnd - k.ReplStart - (k.End - k.Start)
				*d = (*d)[1:]
			}
			return more
		}
		for more := true; more; {
			more = take(&mine, &shiftOurs)
			more = take(&new, &shiftTheirs) || more
		}
		c.base = [2]int{start, end}
		c.ours[1], c.theirs[1] = end+shiftOurs, end+shiftTheirs
		out = append(out, c)
	}
	return out
}

// audit compares the merge by sections with one by lines, and adds a clash if
// they disagree: if a section that both sides moved, renamed or removed would
// come back, or occur twice. Lines that a merge by lines cannot decide are
// accepted if the two sides changed different sections.
func (m *rebasing) audit() {
	base, ours, theirs := linesOf(m.base), linesOf(m.ours), linesOf(m.theirs)
	b, o, t := textsOf(base), textsOf(ours), textsOf(theirs)
	var merged []string
	at, decided := 0, true
	for _, c := range diff3(b, o, t) {
		was, mine, new := b[c.base[0]:c.base[1]], o[c.ours[0]:c.ours[1]], t[c.theirs[0]:c.theirs[1]]
		merged = append(merged, b[at:c.base[0]]...)
		at = c.base[1]
		switch {
		case slices.Equal(new, was), slices.Equal(mine, new):
			merged = append(merged, mine...)
			continue
		case slices.Equal(mine, was):
			merged = append(merged, new...)
			continue
		}
		decided = false
		byOurs := changedIn(base[c.base[0]:c.base[1]], ours[c.ours[0]:c.ours[1]], m.inOurs)
		byTheirs := changedIn(base[c.base[0]:c.base[1]], theirs[c.theirs[0]:c.theirs[1]], m.inTheirs)
		for _, i := range byOurs {
			if slices.Contains(byTheirs, i) {
				m.clash(m.base[i].name())
			}
		}
	}
	merged = append(merged, b[at:]...)
	if len(m.clashes) > 0 {
		return
	}
	got := make([]section, len(m.out))
	for i := range m.out {
		got[i] = m.out[i].section
	}
	g := textsOf(linesOf(got))
	nb, no, nt, ng := tally(b), tally(o), tally(t), tally(g)
	for side, lines := range [][]bodyLine{base, ours, theirs} { // named as in base, if it is there
		for _, l := range lines {
			if k := strings.TrimSpace(l.text); len(m.clashes) == 0 && !kept(k, nb[k], no[k], nt[k], ng[k]) {
				m.clash([][]section{m.base, m.ours, m.theirs}[side][l.section].name())
			}
		}
	}
	if len(m.clashes) == 0 && decided && !slices.Equal(g, merged) {
		m.clash("the order of sections")
	}
}

// changedIn lists the sections of base that a side has changed in one
// stretch: those in which it removed or added lines.
func changedIn(was, now []bodyLine, in []int) (out []int) {
	base := func(section int) int { return slices.Index(in, section) }
	for _, d := range lcs.DiffLines(textsOf(was), textsOf(now)) {
		for _, l := range was[d.Start:d.End] {
			out = append(out, l.section)
		}
		for _, l := range now[d.ReplStart:d.ReplEnd] {
			if i := base(l.section); i >= 0 {
				out = append(out, i)
			}
		}
	}
	return out
}

// tally counts lines, ignoring indentation.
func tally(lines []string) map[string]int {
	n := map[string]int{}
	for _, l := range lines {
		n[strings.TrimSpace(l)]++
	}
	return n
}

// kept reports whether a line occurs in a merge as often as both sides together
// made it: each one's additions and deletions once, those of both alike once. It is
// false if one added it and the other removed it. A line without words (a fence, a
// rule) may be several that look alike.
func kept(line string, base, ours, theirs, got int) bool {
	if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") ||
		!strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return got == ours+theirs-base || got == ours && ours == theirs
	}
	switch {
	case ours > base && theirs < base, ours < base && theirs > base:
		return false
	case ours > base && theirs > base:
		return got == max(ours, theirs)
	}
	return got == ours+theirs-base || got == ours && ours == theirs
}
