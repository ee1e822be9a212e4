package ingest

import (
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
)

// joinRepeats puts new cases that nearly repeat what one of the skill's stored cases asks,
// or an earlier one of the file, into that one's cluster, and takes a split from them
// that is not that one's: what the search reads must not be held out from it under
// another name. It returns how many it has moved. Cases that are known by their id
// stay as the file has them.
func joinRepeats(cases, stored []eval.Case) (moved int) {
	type group struct {
		skill   string
		trigger bool
	}
	known := map[[2]string]eval.Split{}
	existing := map[group][]eval.Case{}
	for _, c := range stored {
		known[[2]string{c.Skill, c.ID}] = c.Split
	}
	here := map[[2]string]bool{}
	fresh := map[group][]int{}
	for i, c := range cases {
		id, g := [2]string{c.Skill, c.ID}, group{c.Skill, c.IsTrigger()}
		if split, ok := known[id]; ok {
			here[id], c.Split = true, split
			existing[g] = append(existing[g], c)
			continue
		}
		fresh[g] = append(fresh[g], i)
	}
	for _, c := range stored {
		if g := (group{c.Skill, c.IsTrigger()}); !here[[2]string{c.Skill, c.ID}] {
			existing[g] = append(existing[g], c)
		}
	}
	for g, places := range fresh {
		list := make([]eval.Case, len(places))
		for k, i := range places {
			list[k] = cases[i]
		}
		_, like := harvest.Cluster(list, existing[g])
		all := append(slices.Clone(existing[g]), list...)
		for k, i := range places {
			c := &cases[i]
			if eval.ClusterOf(c) == eval.ClusterOf(&list[k]) {
				continue
			}
			c.Cluster = list[k].Cluster
			if first := all[like[k]].Split; c.Split != first {
				c.Split = eval.Unassigned // it goes where its cluster is
			}
			moved++
		}
	}
	return moved
}
