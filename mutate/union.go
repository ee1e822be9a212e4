package mutate

import (
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// combined joins the changes that several proposals made to one parent into
// one view, in order. It leaves out proposals whose change is already in it,
// or whose result the kernel refuses. Of sentences that mean the same by
// rule, the most specific one is kept (see unite). It asks no model. sides
// are the views that went into it.
func combined(parent *skill.Document, ps []Proposal) (view string, sides, taught []string) {
	view = parent.View()
	for _, p := range ps {
		next := append(slices.Clone(sides), p.Doc.View())
		joined, _ := Join(parent.View(), view, p.Doc.View())
		joined = unite(parent.View(), joined, next)
		if _, err := parent.WithView(joined); err != nil {
			continue
		}
		view, sides, taught = joined, next, append(taught, p.Taught...)
	}
	return view, sides, taught
}

// unite puts the sentences of a merge by lines (joined) in order. base is what
// the sides descend from.
//
//   - A sentence that one side added and that another side's implies is removed:
//     the most specific one stays in its place.
//   - A sentence that a side added, or that all kept, and that the merge lost, gets
//     a line of its own, except the second of two rewordings of one sentence.
//   - Of sentences that different sides added to one line, those of the second get
//     lines of their own.
//
// Sentences of base that the merge keeps are left alone, and so are repetitions
// within one side.
func unite(base, joined string, sides []string) string {
	u := newUnion(base, joined, sides)
	u.dropRepeats()
	for _, side := range u.sides {
		for i := range side {
			u.restore(side, i)
		}
	}
	u.splitLines()
	return u.render()
}

// A union is a merged text in progress, as sentences.
type union struct {
	base   []statement
	sides  [][]statement
	blocks []string
	parts  []statement // of blocks
	gone   []bool      // by part
	own    map[int][]statement
	old    map[string]int   // the sentences of base, with counts; and so for every side
	said   []map[string]int // by side
	fresh  []*statement     // what sides added, each once
}

func newUnion(base, joined string, sides []string) *union {
	u := &union{base: statementsOf(base), blocks: blocksOf(joined), parts: statementsOf(joined), own: map[int][]statement{}}
	u.gone, u.old = make([]bool, len(u.parts)), counted(u.base)
	for _, side := range sides {
		s := statementsOf(side)
		u.sides, u.said = append(u.sides, s), append(u.said, counted(s))
	}
	seen := map[string]bool{}
	for _, side := range u.sides {
		for i := range side {
			if s := &side[i]; u.added(s) && !seen[s.norm] {
				seen[s.norm] = true
				u.fresh = append(u.fresh, s)
			}
		}
	}
	return u
}

func counted(list []statement) map[string]int {
	m := make(map[string]int, len(list))
	for i := range list {
		m[list[i].norm]++
	}
	return m
}

// added reports whether s is a sentence that base lacks.
func (u *union) added(s *statement) bool { return !s.fixed && u.old[s.norm] == 0 }

// together reports whether one side holds both sentences, and so wants both.
func (u *union) together(s, t *statement) bool {
	return slices.ContainsFunc(u.said, func(said map[string]int) bool {
		if s.norm == t.norm {
			return said[s.norm] > 1
		}
		return said[s.norm] > 0 && said[t.norm] > 0
	})
}

// kept lists the remaining statements, in order; those on lines of their own
// follow their block.
func (u *union) kept() (out []*statement) {
	for i := range u.parts {
		if !u.gone[i] {
			out = append(out, &u.parts[i])
		}
		if n := u.parts[i].block; i+1 == len(u.parts) || u.parts[i+1].block != n {
			for k := range u.own[n] {
				out = append(out, &u.own[n][k])
			}
		}
	}
	return out
}

// says reports whether t implies s, by rule, or by way of another added
// sentence.
func (u *union) says(t, s *statement) bool {
	if t.says(s) {
		return true
	}
	return slices.ContainsFunc(u.fresh, func(x *statement) bool { return x.says(s) && t.says(x) })
}

// dropRepeats removes the less specific one of two sentences that different
// sides added, of equals the later one; and sentences of base that the merge
// has doubled, from the shorter line.
func (u *union) dropRepeats() {
	for i := range u.parts {
		s := &u.parts[i]
		if !u.added(s) {
			continue
		}
		for j := range u.parts {
			t := &u.parts[j]
			if i == j || u.gone[j] || !u.added(t) || u.together(s, t) {
				continue
			}
			if u.says(t, s) && (j < i || !u.says(s, t)) {
				u.gone[i] = true
				break
			}
		}
	}
	for _, s := range u.base {
		most := u.old[s.norm] // as often as anybody wrote it
		for _, said := range u.said {
			most = max(most, said[s.norm])
		}
		for copies := u.copies(s.norm); len(copies) > most; copies = copies[1:] {
			u.gone[copies[0]] = true
		}
	}
}

// copies lists the parts that state norm, the most dispensable first: those
// of short lines and the later ones.
func (u *union) copies(norm string) (out []int) {
	length := map[int]int{}
	for i := range u.parts {
		if !u.gone[i] {
			length[u.parts[i].block]++
		}
	}
	for i := len(u.parts) - 1; i >= 0; i-- {
		if p := &u.parts[i]; p.norm == norm && !p.fixed && !u.gone[i] {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return length[u.parts[a].block] - length[u.parts[b].block] })
	return out
}

// restore puts back sentence i of a side if the merge lost it and no other
// sentence implies it.
func (u *union) restore(side []statement, i int) {
	s := side[i]
	if s.fixed || !u.added(&s) && slices.ContainsFunc(u.said, func(said map[string]int) bool { return said[s.norm] == 0 }) {
		return // of base's sentences, only those that neither side removed
	}
	kept := u.kept()
	if slices.ContainsFunc(kept, func(t *statement) bool { return t.norm == s.norm }) {
		return
	}
	if u.added(&s) {
		for _, t := range kept {
			if u.says(t, &s) || u.rivals(side, &s, t) {
				return
			}
		}
		placed := u.replace(side, &s)
		less := func(t statement) bool {
			return u.added(&t) && t.norm != s.norm && !u.together(&s, &t) && u.says(&s, &t)
		}
		for k := range u.parts {
			u.gone[k] = u.gone[k] || less(u.parts[k])
		}
		for n := range u.own {
			u.own[n] = slices.DeleteFunc(u.own[n], less)
		}
		if placed {
			return
		}
	}
	at := len(u.blocks) - 1
	for k := i - 1; k >= 0; k-- { // behind its predecessor
		if n, ok := u.find(side[k].norm); ok {
			at = n
			break
		}
	}
	u.own[at] = append(u.own[at], s)
}

// replace puts s in the place of a less specific sentence, if that makes the
// line of its side.
func (u *union) replace(side []statement, s *statement) bool {
	for k := range u.parts {
		t := &u.parts[k]
		if u.gone[k] || !u.added(t) || u.together(s, t) || !u.says(s, t) {
			continue
		}
		var here, there []string
		for i := range u.parts {
			switch p := &u.parts[i]; {
			case p.block != t.block || u.gone[i]:
			case i == k:
				here = append(here, s.norm)
			default:
				here = append(here, p.norm)
			}
		}
		for i := range side {
			if side[i].block == s.block {
				there = append(there, side[i].norm)
			}
		}
		if slices.Equal(here, there) {
			t.text, t.norm, t.tokens, t.sorted, t.words = s.text, s.norm, s.tokens, s.sorted, s.words
			return true
		}
	}
	return false
}

// find is the block of the merge that states norm.
func (u *union) find(norm string) (block int, ok bool) {
	for i := range u.parts {
		if u.parts[i].norm == norm {
			return u.parts[i].block, true
		}
	}
	for n := range u.blocks { // in order: what is placed behind it must not differ from run to run
		if slices.ContainsFunc(u.own[n], func(s statement) bool { return s.norm == norm }) {
			return n, true
		}
	}
	return 0, false
}

// rivals reports whether s, of side, and t reword the same sentence of base: the
// first of them wins.
func (u *union) rivals(side []statement, s, t *statement) bool {
	if !u.added(t) || u.together(s, t) || !s.like(t) {
		return false
	}
	mine := counted(side)
	for i := range u.base {
		o := &u.base[i]
		if o.fixed || mine[o.norm] > 0 || !o.like(s) || !o.like(t) {
			continue
		}
		if _, kept := u.find(o.norm); !kept {
			return true
		}
	}
	return false
}

// splitLines splits lines that hold more sentences than any of their source
// lines: no author wrote these as one.
func (u *union) splitLines() {
	var written [][]statement
	for _, list := range append([][]statement{u.base}, u.sides...) {
		written = append(written, byBlock(list)...)
	}
	at := 0
	for _, line := range byBlock(u.parts) {
		first := at
		at += len(line)
		var mine []int // parts that are kept
		for i := first; i < at; i++ {
			if !u.gone[i] {
				mine = append(mine, i)
			}
		}
		var best []statement
		most := 0
		for _, w := range written {
			n, said := 0, counted(w)
			for _, i := range mine {
				n += min(1, said[u.parts[i].norm])
			}
			if n > most || n == most && len(w) > len(best) && n > 0 {
				best, most = w, n
			}
		}
		surplus := len(mine) - len(best)
		if line[0].fixed || most == 0 || surplus <= 0 {
			continue
		}
		said := counted(best)
		var moved []statement
		for k := len(mine) - 1; k >= 0 && surplus > 0; k-- {
			if p := &u.parts[mine[k]]; said[p.norm] == 0 && u.added(p) {
				u.gone[mine[k]] = true
				moved = append([]statement{*p}, moved...)
				surplus--
			}
		}
		u.own[line[0].block] = append(moved, u.own[line[0].block]...)
	}
}

// byBlock cuts statements into those of one block each.
func byBlock(list []statement) (out [][]statement) {
	for i := range list {
		if i == 0 || list[i].block != list[i-1].block {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], list[i])
	}
	return out
}

func (u *union) render() string {
	var out []string
	at := 0
	for n, block := range u.blocks {
		first := at
		for at < len(u.parts) && u.parts[at].block == n {
			at++
		}
		block = u.cut(block, first, at)
		if block == "" {
			out = spaced(out, u.blocks[n])
		} else {
			out = append(out, block)
		}
		for _, s := range u.own[n] {
			out = ownLine(out, s)
		}
	}
	return strings.Join(out, "")
}

// cut returns a block without the removed ones of its parts [first, end); ""
// if nothing is left.
func (u *union) cut(block string, first, end int) string {
	if first == end || u.parts[first].fixed {
		return block
	}
	var out strings.Builder
	for i := first; i < end; i++ {
		switch p := &u.parts[i]; {
		case u.gone[i]:
		case out.Len() == 0:
			out.WriteString(block[:u.parts[first].start] + p.text)
		default:
			out.WriteString(block[u.parts[i-1].end:p.start] + p.text)
		}
	}
	if out.Len() == 0 {
		return ""
	}
	return out.String() + block[u.parts[end-1].end:]
}

// spaced adds to the last block of out the blank lines of a removed one.
func spaced(out []string, gone string) []string {
	if n := len(out); n > 0 {
		bare := strings.TrimRight(out[n-1], "\n")
		lines := max(trailing(gone), trailing(out[n-1]))
		out[n-1] = bare + strings.Repeat("\n", lines)
	}
	return out
}

func trailing(s string) int { return len(s) - len(strings.TrimRight(s, "\n")) }

// ownLine appends a sentence as a block of its own, of the same kind as its
// source.
func ownLine(out []string, s statement) []string {
	text := s.mark + s.text
	n := len(out)
	if n == 0 {
		return append(out, text+"\n")
	}
	last := out[n-1]
	lines := trailing(last)
	if s.mark == "" || !itemMark.MatchString(last) {
		out[n-1] = strings.TrimRight(last, "\n") + "\n\n"
		return append(out, text+strings.Repeat("\n", max(lines, 1)))
	}
	out[n-1] = strings.TrimRight(last, "\n") + "\n"
	return append(out, text+strings.Repeat("\n", lines))
}
