package mutate

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// A section is a heading with the text up to the next heading of any depth;
// the first section may be the text before all headings.
type section struct {
	path  string // of headings, "" before the first
	depth int    // of the heading in that path, 0 before the first
	text  string // with a mark for every kernel span, see markKernel
}

// key decides whether a section was changed: its text without trailing
// blanks, and outside of code fences without blank lines. Reformatting is no
// conflict with a challenger.
func (s *section) key() string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(s.text) {
		line = strings.TrimRight(line, " \t\r\n")
		bare := strings.TrimLeft(line, " \t")
		switch {
		case fence == "" && (strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~")):
			fence = bare[:3]
		case fence != "" && strings.HasPrefix(bare, fence):
			fence = ""
		case fence == "" && line == "":
			continue
		}
		b.WriteString(line + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// name is the section's name in a message.
func (s *section) name() string {
	if s.path == "" {
		return "the text before the first heading"
	}
	return fmt.Sprintf("section %q", s.path)
}

// sectionsOf cuts a document's view into sections. marks are the marks of the
// kernel spans, in order.
func sectionsOf(d *skill.Document, marks []string) []section {
	view := d.View()
	var out []section
	at := 0 // of the first kernel placeholder that was not marked yet
	holes := d.KernelText()
	add := func(start, end int, path string) {
		text := view[start:end]
		var b strings.Builder
		for at < len(holes) {
			i := strings.Index(text, holes[at].Token)
			if i < 0 {
				break
			}
			b.WriteString(text[:i] + marks[at])
			text = text[i+len(holes[at].Token):]
			at++
		}
		b.WriteString(text)
		depth := 0
		if path != "" {
			depth = 1 + strings.Count(path, pathSeparator)
		}
		out = append(out, section{path, depth, b.String()})
	}
	start, path := 0, ""
	for _, b := range skill.Blocks(view) {
		if b.Kind != "heading" {
			continue
		}
		if b.Start > 0 {
			add(start, b.Start, path)
		}
		start, path = b.Start, b.Section
	}
	if start < len(view) || len(out) == 0 {
		add(start, len(view), path)
	}
	return out
}

// pathSeparator separates the headings of a path, as in skill.Blocks.
const pathSeparator = " > "

// markKernel gives the kernel spans of two texts of one skill their marks:
// spans that are the same, or of which one replaced the other, have the same
// mark. A span of ours is named by its number, so that its placeholder can be
// restored.
func markKernel(base, ours *skill.Document) (ofBase, ofOurs []string) {
	texts := func(d *skill.Document) (out []string) {
		for _, p := range d.KernelText() {
			out = append(out, strings.ReplaceAll(p.Text, "\r\n", "\n"))
		}
		return out
	}
	a, b := texts(base), texts(ours)
	ofBase, ofOurs = make([]string, len(a)), make([]string, len(b))
	for j := range b {
		ofOurs[j] = kernelMark("", j)
	}
	i, j := 0, 0
	for _, m := range append(common(a, b), [2]int{len(a), len(b)}) {
		paired := m[0]-i == m[1]-j
		for ; i < m[0]; i++ {
			ofBase[i] = kernelMark("gone ", i) // its owner took it out, or it cannot be told which one it became
			if paired {
				ofBase[i], j = kernelMark("", j), j+1
			}
		}
		if m[0] < len(a) {
			ofBase[m[0]] = kernelMark("", m[1])
		}
		i, j = m[0]+1, m[1]+1
	}
	return ofBase, ofOurs
}

// kernelMarkStart and the end of a mark are characters for private use, which
// no text holds.
const kernelMarkStart = "\ue0ff"

func kernelMark(what string, n int) string {
	return fmt.Sprintf(kernelMarkStart+"%skernel %d\ue0fe", what, n+1)
}

// pairs aligns two lists of sections in order. Sections correspond if their
// path or their content is the same, and best if both are. The result holds
// for every section of a the index of its counterpart in b, -1 if there is
// none.
func pairs(a, b []section) []int {
	ka, kb := make([]string, len(a)), make([]string, len(b))
	for i := range a {
		ka[i] = a[i].key()
	}
	for j := range b {
		kb[j] = b[j].key()
	}
	like := func(i, j int) (n int) {
		if a[i].path == b[j].path {
			n += 2
		}
		if ka[i] == kb[j] && ka[i] != "" {
			n++
		}
		return n
	}
	best := make([][]int, len(a)+1) // of a[i:] and b[j:]
	for i := range best {
		best[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if n := like(i, j); n > 0 {
				best[i][j] = max(best[i][j], n+best[i+1][j+1])
			}
		}
	}
	out := make([]int, len(a))
	for i := range out {
		out[i] = -1
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		n := like(i, j)
		switch {
		case n > 0 && best[i][j] == n+best[i+1][j+1]:
			out[i] = j
			i, j = i+1, j+1
		case best[i][j] == best[i+1][j]:
			i++
		default:
			j++
		}
	}
	return out
}
