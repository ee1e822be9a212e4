package harvest

import (
	"cmp"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval"
)

// alike is the share of common shingles from which on two prompts count as one.
const alike = .8

var shingleSeed = maphash.MakeSeed()

// cluster gives the cases of one session, and those whose prompts are
// near-duplicates, one cluster: that of the existing case that they resemble,
// else of the first of them. It returns how many clusters there are among cases.
func cluster(cases, existing []eval.Case) int {
	all := append(append([]eval.Case{}, existing...), cases...)
	parent := make([]int, len(all))
	for i := range parent {
		parent[i] = i
	}
	var root func(int) int
	root = func(i int) int {
		if parent[i] != i {
			parent[i] = root(parent[i])
		}
		return parent[i]
	}
	// The lower index is the root: existing cases name the cluster.
	join := func(i, j int) {
		if a, b := root(i), root(j); a < b {
			parent[b] = a
		} else {
			parent[a] = b
		}
	}
	first := make(map[string]int)
	sets := make([]map[uint64]bool, len(all))
	posted := make(map[uint64][]int)
	freq := make(map[uint64]int)
	for j, c := range all {
		sets[j] = shingles(c)
		for key := range sets[j] {
			freq[key]++
		}
	}
	for j, c := range all {
		if at, ok := first[c.Cluster]; ok && c.Cluster != "" {
			join(at, j)
		} else {
			first[c.Cluster] = j
		}
		for _, key := range prefix(sets[j], freq) {
			for _, i := range posted[key] {
				// What exists keeps the clusters that it has.
				if j >= len(existing) && root(i) != root(j) && jaccard(sets[i], sets[j]) >= alike {
					join(i, j)
				}
			}
			posted[key] = append(posted[key], j)
		}
	}
	names := make(map[string]bool)
	for k := range cases {
		i := len(existing) + k
		if name := all[root(i)].Cluster; name != "" {
			cases[k].Cluster = name
		}
		names[cases[k].Cluster] = true
	}
	return len(names)
}

// prefix is the part of a set that any set alike shares an element with: of n
// elements in one order for all sets (rare ones first), the first n−⌈alike·n⌉+1.
// It spares the comparison of every pair (Bayardo et al., "Scaling up all pairs
// similarity search", WWW 2007).
func prefix(set map[uint64]bool, freq map[uint64]int) []uint64 {
	keys := slices.SortedFunc(maps.Keys(set), func(a, b uint64) int {
		return cmp.Or(cmp.Compare(freq[a], freq[b]), cmp.Compare(a, b))
	})
	return keys[:len(keys)-int(math.Ceil(alike*float64(len(keys))))+1]
}

// shingles are the runs of three words of what a case asks, context included:
// "commit" after two different conversations is two requests.
func shingles(c eval.Case) map[uint64]bool {
	var b strings.Builder
	for _, m := range c.Context {
		b.WriteString(m.Text)
		b.WriteByte(' ')
	}
	b.WriteString(c.Prompt)
	fields := strings.Fields(strings.ToLower(b.String()))
	set := make(map[uint64]bool, len(fields))
	const run = 3
	for i := 0; i == 0 || i+run <= len(fields); i++ {
		set[maphash.String(shingleSeed, strings.Join(fields[i:min(i+run, len(fields))], " "))] = true
	}
	return set
}
