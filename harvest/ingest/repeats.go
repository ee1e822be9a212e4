package ingest

import (
	"encoding/json"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/content"
)

// joinWordings puts new cases without a cluster that are wordings of one request into one
// cluster: the same accepted answer is wanted, or the same checks grade it, about the same
// files. A text answers all wordings well or none, so each as a pair of its own would be
// one piece of luck counted several times. Words cannot show that, and equal checks
// without a file do not either: one check may be made of many requests. Of such cases
// alike is how many there are; they stay apart, and their owner may name clusters. It
// returns how many cases it has moved.
func joinWordings(cases, stored []eval.Case) (moved, alike int) {
	known, first := map[[2]string]bool{}, map[string]*eval.Case{}
	checked := map[string]int{}
	for i := range stored {
		c := &stored[i]
		known[[2]string{c.Skill, c.ID}] = true
		if key, one := request(c); one && first[key] == nil {
			first[key] = c
		}
	}
	for i := range cases {
		c := &cases[i]
		if known[[2]string{c.Skill, c.ID}] {
			continue
		}
		key, one := request(c)
		switch f := first[key]; {
		case key == "":
		case !one && c.Cluster == "":
			checked[key]++
		case one && f == nil:
			first[key] = c
		case one && c.Cluster == "":
			c.Cluster = eval.ClusterOf(f)
			if c.Split != f.Split {
				c.Split = eval.Unassigned // it gets the split of its cluster
			}
			moved++
		}
	}
	for _, n := range checked {
		if n > 1 {
			alike += n
		}
	}
	return moved, alike
}

// request is what an imported case wants of an answer, and whether two cases that want the
// same are one request; "" if that is another's business.
func request(c *eval.Case) (key string, one bool) {
	if c.Origin() != "imported" || c.IsTrigger() {
		return "", false
	}
	what := []any{c.Skill, c.Files, c.Workspace, c.Context, c.Reference}
	if c.Reference == "" {
		what = append(what, c.Checks)
	}
	text, err := json.Marshal(what)
	if err != nil {
		return "", false
	}
	return string(text), c.Reference != "" || len(c.Files) > 0
}

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
		_, like := content.Cluster(list, existing[g])
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
