package harvest

import (
	"hash/maphash"
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
	for i, c := range all {
		if at, ok := first[c.Cluster]; ok && c.Cluster != "" {
			join(at, i)
		} else {
			first[c.Cluster] = i
		}
		sets[i] = shingles(c)
	}
	for j := len(existing); j < len(all); j++ {
		for i := range j {
			if a, b := len(sets[i]), len(sets[j]); float64(min(a, b)) < alike*float64(max(a, b)) || root(i) == root(j) {
				continue
			}
			if jaccard(sets[i], sets[j]) >= alike {
				join(i, j)
			}
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
