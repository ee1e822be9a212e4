package mutate

import (
	"slices"
	"strings"
)

// JoinBlock merges two rewordings of one block sentence by sentence and line
// by line: what only one side changed is taken from that side, what both
// changed alike is taken once. ok is false if both changed the same sentence
// differently, or added something at the same place: a merge cannot guess
// which wording is meant, or the order of two additions. The order of the
// sides makes no difference.
func JoinBlock(base, first, second string) (merged string, ok bool) {
	switch {
	case first == second || second == base:
		return first, true
	case first == base:
		return second, true
	}
	o, one, other := sentences(base), sentences(first), sentences(second)
	a, b := replacements(o, one), replacements(o, other)
	var out strings.Builder
	at := 0
	for len(a) > 0 || len(b) > 0 {
		var next replacement
		switch {
		case len(a) > 0 && len(b) > 0 && a[0] == b[0]:
			next, a, b = a[0], a[1:], b[1:]
		case len(a) > 0 && len(b) > 0 && a[0].clashes(b[0]):
			return "", false
		case len(b) == 0 || len(a) > 0 && a[0].before(b[0]):
			next, a = a[0], a[1:]
		default:
			next, b = b[0], b[1:]
		}
		out.WriteString(join(o[at:next.from]) + next.text)
		at = next.to
	}
	merged = out.String() + join(o[at:])
	// One side's wording and the other's blank may join two sentences into
	// one that no author wrote.
	for _, part := range sentences(merged) {
		if part != "" && !slices.Contains(one, part) && !slices.Contains(other, part) {
			return "", false
		}
	}
	return merged, true
}

// A replacement puts text in the place of the parts [from, to) of a base; an
// empty range is an addition before from.
type replacement struct {
	from, to int
	text     string
}

func (r replacement) before(x replacement) bool {
	return r.from < x.from || r.from == x.from && r.to < x.to
}

// clashes reports whether two different replacements change the same part, or
// add at the same place.
func (r replacement) clashes(x replacement) bool {
	return r.from < x.to && x.from < r.to || r.from == r.to && x.from == x.to && r.from == x.from
}

// replacements lists what turned base into side, in order.
func replacements(base, side []string) (out []replacement) {
	i, j := 0, 0
	for _, m := range append(common(base, side), [2]int{len(base), len(side)}) {
		if i < m[0] || j < m[1] {
			out = append(out, replacement{i, m[0], join(side[j:m[1]])})
		}
		i, j = m[0]+1, m[1]+1
	}
	return out
}

func join(parts []string) string { return strings.Join(parts, "") }

// sentences cuts a block at its line feeds, and at the blank after a full
// stop, question or exclamation mark; the parts joined are the block. The
// separator belongs to the part after it, so that a last sentence reads the
// same whether another one follows or not.
func sentences(block string) (out []string) {
	start := 0
	for i := 1; i < len(block); i++ {
		end := block[i] == '\n' || block[i] == ' ' && strings.IndexByte(".!?", block[i-1]) >= 0 && !numbered(block[start:i-1])
		if end {
			out, start = append(out, block[start:i]), i
		}
	}
	return append(out, block[start:])
}

// numbered reports whether the text before a full stop is the number of a list
// item: "2. Sort" is one part.
func numbered(before string) bool {
	before = strings.TrimSpace(before)
	return before != "" && strings.Trim(before, "0123456789") == ""
}
