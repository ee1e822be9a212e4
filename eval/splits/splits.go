// Package splits assigns cases to training, validation and the trial, cluster by cluster.
package splits

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/skill-evolve/evolve/eval"
)

// quotas are the shares of a skill's cases, in percent, that Assign aims
// at, in order of preference for a case that could go to several.
var quotas = []struct {
	split   eval.Split
	percent int
}{{eval.Train, 40}, {eval.Val, 30}, {eval.Test, 30}}

// Assign gives every case without a split one, in place. Cases of one cluster are
// not independent, so they all go to the same split: to the one that their cluster has
// already, else to the one whose number of cases is furthest below its quota (train 40
// %, val 30 %, test 30 % of the skill's cases). A case without a cluster is its own.
// Larger clusters are placed first, because a late one could no longer be balanced; the
// SHA-256 of the cluster's name breaks ties. The result does not depend on the order of
// cases.
//
// A cluster whose cases were put into different splits by hand keeps them; its
// unassigned cases go to the first of train, val, test that it has, so that a doubtful
// case is never held out.
//
// A generated case is never held out, and neither is its cluster: both go to train or
// val, four to three. Generated cases are counted separately, or they would push the
// real ones out of train and val. If a cluster is held out already, a case that joins
// it together with a generated case stays unassigned: it would teach the search what
// the gate asks.
//
// A case that teaches a search nothing (see eval.Case.Teaches) is held out unless its
// cluster has another split or other cases, and it counts for no quota.
//
// Trigger cases are split among themselves: they measure something else, for another
// tournament.
func Assign(cases []eval.Case) {
	type group struct {
		skill   string
		trigger bool
	}
	bySkill := make(map[group][]*eval.Case)
	for i := range cases {
		g := group{cases[i].Skill, cases[i].IsTrigger()}
		bySkill[g] = append(bySkill[g], &cases[i])
	}
	for _, of := range bySkill {
		assignSplits(of)
	}
}

// A cluster is a group of one skill's cases that must stay together.
type cluster struct {
	hash   [sha256.Size]byte
	open   []*eval.Case // without a split
	teach  int          // how many of them teach
	has    map[eval.Split]bool
	madeUp bool // a generated case is among them
}

// A tally counts the cases of each split, the real or the generated ones.
type tally struct {
	total int
	of    map[eval.Split]int
}

// shortest returns the split that lacks most of its share of t, the hash breaking ties;
// it returns the held-out split only if heldOut is true.
func (t *tally) shortest(hash byte, heldOut bool) eval.Split {
	sum := 0
	for _, q := range quotas {
		if heldOut || q.split != eval.Test {
			sum += q.percent
		}
	}
	var short []eval.Split
	lack := 0
	for _, q := range quotas {
		if !heldOut && q.split == eval.Test {
			continue
		}
		switch d := q.percent*t.total - sum*t.of[q.split]; {
		case len(short) == 0 || d > lack:
			short, lack = []eval.Split{q.split}, d
		case d == lack:
			short = append(short, q.split)
		}
	}
	return short[int(hash)%len(short)]
}

func assignSplits(cases []*eval.Case) {
	clusters := make(map[string]*cluster)
	tallies := map[bool]*tally{false: {of: make(map[eval.Split]int)}, true: {of: make(map[eval.Split]int)}} // by Generated
	for _, c := range cases {
		name := eval.ClusterOf(c)
		k := clusters[name]
		if k == nil {
			k = &cluster{hash: sha256.Sum256([]byte(name)), has: make(map[eval.Split]bool)}
			clusters[name] = k
		}
		k.madeUp = k.madeUp || c.Generated()
		if c.Split == eval.Unassigned {
			k.open = append(k.open, c)
		} else {
			k.has[c.Split] = true
		}
		if !c.Teaches() {
			continue
		}
		t := tallies[c.Generated()]
		t.total++
		if c.Split == eval.Unassigned {
			k.teach++
		} else {
			t.of[c.Split]++
		}
	}
	place := func(k *cluster, s eval.Split) {
		for _, c := range k.open {
			c.Split = s
			if c.Teaches() {
				tallies[c.Generated()].of[s]++
			}
		}
	}

	var unplaced []*cluster
	for _, k := range clusters {
		if len(k.has) == 0 {
			unplaced = append(unplaced, k)
			continue
		}
		for _, q := range quotas {
			if k.has[q.split] {
				if q.split != eval.Test || !k.madeUp {
					place(k, q.split)
				}
				break
			}
		}
	}
	slices.SortFunc(unplaced, func(a, b *cluster) int {
		return cmp.Or(cmp.Compare(b.teach, a.teach), bytes.Compare(a.hash[:], b.hash[:]))
	})
	for _, k := range unplaced {
		if k.teach == 0 {
			place(k, eval.Test)
			continue
		}
		place(k, tallies[k.madeUp].shortest(k.hash[0], !k.madeUp))
	}
}
