package tournament

import (
	"slices"

	"github.com/skill-evolve/evolve/eval"
)

// hear notes what a cluster asked, under whatever names it comes again.
func (st *gateState) hear(c cluster) {
	if st.Heard == nil {
		st.Heard = map[string][]string{}
	}
	var prints []string
	for _, k := range c.cases {
		prints = append(prints, st.spent.Prints(k)...)
	}
	st.Heard[c.name] = sorted(prints)
}

// recall takes over what was heard before the run from old, its record.
func (st *gateState) recall(old *gateState) {
	for _, name := range slices.Concat(st.StartClusters, st.past()) {
		if prints, ok := old.Heard[name]; ok {
			if st.Heard == nil {
				st.Heard = map[string][]string{}
			}
			st.Heard[name] = prints
		}
	}
	st.resumed = slices.DeleteFunc(slices.Clone(old.Clusters), func(name string) bool { return slices.Contains(st.StartClusters, name) })
}

// used are the names of clusters that may not speak (again), and the prints of their
// cases: of those given, which are in the trial, of those that it heard on other
// models, and of the barred ones. Where an older evolve heard one of them, nobody
// knows under which name its cases stand now: all that was spent on the challenger
// was heard, those aside that the run itself had begun on.
func (st *gateState) used(clusters []string, spent *Spent, challenger string, test []eval.Case) []string {
	out := slices.Concat(clusters, st.Barred, st.past())
	unnamed := false
	for _, name := range slices.Concat(clusters, st.past()) {
		prints, ok := st.Heard[name]
		out, unnamed = append(out, prints...), unnamed || !ok
	}
	if !unnamed || spent == nil {
		return out
	}
	own := map[string]bool{}
	for i := range test {
		if slices.Contains(st.resumed, eval.ClusterOf(&test[i])) {
			for _, p := range spent.Prints(&test[i]) {
				own[p] = true
			}
		}
	}
	for _, p := range spent.PrintsOn(challenger) {
		if !own[p] {
			out = append(out, p)
		}
	}
	return out
}

// prints are those of all that was heard.
func (st *gateState) prints() (out []string) {
	for _, prints := range st.Heard {
		out = append(out, prints...)
	}
	return out
}
