package mutate

import (
	"slices"
	"strings"
)

// Join merges two views that descend from base, block by block (diff3): what
// only one side changed is taken from that side, what both changed alike is
// taken once, additions of both at one place follow each other, and a block
// that both reworded is merged by sentences (see JoinBlock). If both changed
// the same sentence differently, the first side wins; conflicts counts these.
func Join(base, first, second string) (view string, conflicts int) {
	o, a, b := blocksOf(base), blocksOf(first), blocksOf(second)
	inA, inB := positions(o, a), positions(o, b)
	var out []string
	var io, ia, ib int
	for {
		// The next block of base that both sides kept ends the unstable chunk.
		k := io
		for k < len(o) && (inA[k] < ia || inB[k] < ib) {
			k++
		}
		ea, eb := len(a), len(b)
		if k < len(o) {
			ea, eb = inA[k], inB[k]
		}
		chunk, c := resolve(reworded(o[io:k], a[ia:ea], b[ib:eb]))
		conflicts += c
		for _, s := range chunk {
			out = append(out, withNewline(s))
		}
		if k == len(o) {
			break
		}
		// They differ in surrounding blank space only: take the changed one.
		kept := a[ea]
		if kept == o[k] {
			kept = b[eb]
		}
		out = append(out, kept)
		io, ia, ib = k+1, ea+1, eb+1
	}
	return strings.Join(once(out, a, b), ""), conflicts
}

// positions maps every block of base to its place in side, -1 if it is gone.
func positions(base, side []string) []int {
	p := make([]int, len(base))
	for i := range p {
		p[i] = -1
	}
	for _, m := range match(base, side) {
		p[m[0]] = m[1]
	}
	return p
}

// resolve merges one chunk that is not the same on all three sides.
func resolve(o, a, b []string) (out []string, conflicts int) {
	switch {
	case join(a) == join(o):
		return b, 0
	case same(a, b) || same(o, b):
		return a, 0
	case same(o, a):
		return b, 0
	}
	ko, ka, kb := keys(o), keys(a), keys(b)
	placed := map[string]bool{}
	for _, s := range a {
		k := strings.TrimSpace(s)
		if !ko[k] || kb[k] {
			out = append(out, s)
			continue
		}
		// Only the second side changed this block: take its rewording, or its
		// removal.
		if r := rewording(s, b, ko); r != "" && !placed[strings.TrimSpace(r)] {
			placed[strings.TrimSpace(r)] = true
			out = append(out, r)
		}
	}
	for _, s := range b {
		k := strings.TrimSpace(s)
		if k == "" || ko[k] || ka[k] || placed[k] {
			continue
		}
		clash := false
		for _, was := range o {
			clash = clash || !ka[strings.TrimSpace(was)] && similarity(was, s) >= 0.5
		}
		if clash {
			conflicts++
			continue
		}
		out = append(out, s)
	}
	return out, conflicts
}

// reworded replaces two rewordings of one block by their merge if JoinBlock
// can make one: the chunk then holds a block that both sides changed alike.
func reworded(o, a, b []string) (base, first, second []string) {
	first, second = slices.Clone(a), slices.Clone(b)
	ko, ka, kb := keys(o), keys(a), keys(b)
	for _, was := range o {
		if k := strings.TrimSpace(was); ka[k] || kb[k] {
			continue // at most one side changed it
		}
		i, j := likest(was, first, ko), likest(was, second, ko)
		if i < 0 || j < 0 {
			continue
		}
		if merged, ok := JoinBlock(was, first[i], second[j]); ok {
			first[i], second[j] = merged, merged
		}
	}
	return o, first, second
}

// likest is the index of side's new block that is most like block, which it
// replaced; -1 if there is none.
func likest(block string, side []string, base map[string]bool) int {
	best, at := 0.5, -1
	for i, s := range side {
		if sim := similarity(block, s); !base[strings.TrimSpace(s)] && sim >= best {
			best, at = sim, i
		}
	}
	return at
}

// rewording returns side's new block that replaced block.
func rewording(block string, side []string, base map[string]bool) string {
	if i := likest(block, side, base); i >= 0 {
		return side[i]
	}
	return ""
}

// once drops a line that both sides added in different places: the second
// copy of a block that neither side holds twice.
func once(out, a, b []string) []string {
	count := func(list []string) map[string]int {
		m := map[string]int{}
		for _, s := range list {
			m[strings.TrimSpace(s)]++
		}
		return m
	}
	ca, cb, seen := count(a), count(b), map[string]int{}
	kept := out[:0:0]
	for _, s := range out {
		k := strings.TrimSpace(s)
		seen[k]++
		if k != "" && seen[k] > max(ca[k], cb[k], 1) {
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

func keys(blocks []string) map[string]bool {
	m := make(map[string]bool, len(blocks))
	for _, s := range blocks {
		m[strings.TrimSpace(s)] = true
	}
	return m
}

func same(a, b []string) bool {
	return strings.TrimSpace(strings.Join(a, "")) == strings.TrimSpace(strings.Join(b, ""))
}
