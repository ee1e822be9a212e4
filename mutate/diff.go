package mutate

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
)

// blocksOf cuts a view into its blocks, each ending in a newline.
func blocksOf(view string) []string {
	view = withNewline(view)
	var out []string
	for _, b := range skill.Blocks(view) {
		if s := view[b.Start:b.End]; s != "" {
			out = append(out, withNewline(s))
		}
	}
	return out
}

// match pairs the equal blocks of a and b by longest common subsequence: the
// result holds index pairs in order. Surrounding blank space is ignored, so
// that an additional blank line is no change.
func match(a, b []string) [][2]int {
	ka, kb := make([]string, len(a)), make([]string, len(b))
	for i, s := range a {
		ka[i] = strings.TrimSpace(s)
	}
	for i, s := range b {
		kb[i] = strings.TrimSpace(s)
	}
	return common(ka, kb)
}

// common pairs the equal entries of a and b by longest common subsequence.
func common(ka, kb []string) [][2]int {
	// length[i][j] is the length of the LCS of ka[i:] and kb[j:].
	length := make([][]int, len(ka)+1)
	for i := range length {
		length[i] = make([]int, len(kb)+1)
	}
	for i := len(ka) - 1; i >= 0; i-- {
		for j := len(kb) - 1; j >= 0; j-- {
			if ka[i] == kb[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var out [][2]int
	for i, j := 0, 0; i < len(ka) && j < len(kb); {
		switch {
		case ka[i] == kb[j]:
			out = append(out, [2]int{i, j})
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return out
}

// A hunk is one stretch in which two block lists differ: a[A0:A1] became
// b[B0:B1].
type hunk struct{ A0, A1, B0, B1 int }

// hunks lists the differences of two block lists, in order.
func hunks(a, b []string) []hunk {
	var out []hunk
	i, j := 0, 0
	for _, m := range append(match(a, b), [2]int{len(a), len(b)}) {
		if i < m[0] || j < m[1] {
			out = append(out, hunk{i, m[0], j, m[1]})
		}
		i, j = m[0]+1, m[1]+1
	}
	return out
}

// summarise describes the change between two views in one line.
func summarise(before, after string) string {
	a, b := blocksOf(before), blocksOf(after)
	var added, removed []string
	for _, h := range hunks(a, b) {
		for _, s := range a[h.A0:h.A1] {
			if s = oneLine(s); s != "" {
				removed = append(removed, s)
			}
		}
		for _, s := range b[h.B0:h.B1] {
			if s = oneLine(s); s != "" {
				added = append(added, s)
			}
		}
	}
	var parts []string
	if len(added) > 0 {
		parts = append(parts, "added: "+listed(added))
	}
	if len(removed) > 0 {
		parts = append(parts, "removed: "+listed(removed))
	}
	if len(parts) == 0 {
		return "nothing changed"
	}
	return strings.Join(parts, "; ")
}

func listed(s []string) string {
	const most = 6
	more := ""
	if len(s) > most {
		s, more = s[:most], fmt.Sprintf(" and %d more", len(s)-most)
	}
	return "«" + strings.Join(s, "» «") + "»" + more
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	const most = 500 // a line is shown whole, or its end would look like a rule that was tried
	if len(s) > most {
		s = s[:max(strings.LastIndexByte(s[:most], ' '), most/2)]
		s = strings.ToValidUTF8(s, "") + " …"
	}
	return s
}

// Stat counts the blocks that only after has, and those that only before has.
func Stat(before, after string) (added, removed int) {
	for _, h := range hunks(blocksOf(before), blocksOf(after)) {
		added, removed = added+h.B1-h.B0, removed+h.A1-h.A0
	}
	return added, removed
}
