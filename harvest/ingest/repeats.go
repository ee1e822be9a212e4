package ingest

import (
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/harvest"
)

// joinRepeats puts a new case that nearly repeats a stored case of the skill, or an
// earlier one of the file, into that case's cluster, and clears its split if it differs
// from that case's: what the search reads must not be held out from it under another
// name. It returns how many cases it has moved. Cases whose id is already stored stay
// as the file has them.
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
				c.Split = eval.Unassigned // it gets the split of its cluster
			}
			moved++
		}
	}
	return moved
}
