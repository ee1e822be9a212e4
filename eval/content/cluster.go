package content

import "github.com/skill-evolve/evolve/eval"

// Cluster puts the cases of one session, and cases whose prompts are near-duplicates
// (see Repeats), into one cluster: that of the existing case that they
// resemble, else of the first of them. Existing cases keep their clusters. It returns
// the number of clusters among cases, and for each case the index, in existing followed
// by cases, of the case that names its cluster.
func Cluster(cases, existing []eval.Case) (clusters int, like []int) {
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
	// The lower index becomes the root, so existing cases name the cluster.
	join := func(i, j int) {
		if a, b := root(i), root(j); a < b {
			parent[b] = a
		} else {
			parent[a] = b
		}
	}
	first := make(map[string]int)
	for j := range all {
		if at, ok := first[eval.ClusterOf(&all[j])]; ok {
			join(at, j)
		} else {
			first[eval.ClusterOf(&all[j])] = j
		}
	}
	Repeats(all, len(existing), func(i, j int) bool { return root(i) == root(j) }, join)
	names := make(map[string]bool)
	like = make([]int, len(cases))
	for k := range cases {
		if like[k] = root(len(existing) + k); like[k] != len(existing)+k {
			cases[k].Cluster = eval.ClusterOf(&all[like[k]])
		}
		names[eval.ClusterOf(&cases[k])] = true
	}
	return len(names), like
}
