// Package splits assigns cases to training, validation and the trial, cluster by cluster,
// and says when a search may begin.
package splits

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

// quotas are the shares of a skill's cases, in percent, that imported and generated cases
// are given, in order of preference for a case that could go to several.
var quotas = []struct {
	split   eval.Split
	percent int
}{{eval.Train, 40}, {eval.Val, 30}, {eval.Test, 30}}

// A search waits for SearchTrain and SearchVal cases that no earlier search has read. Its
// trial then gets up to trialCases fresh ones before the next search gets any: to prove a
// gain of 30 points takes about 25 to 38. A smaller gain waits for later cases.
const (
	SearchTrain = 12
	SearchVal   = 6
	trialCases  = 36
)

// A State is what is known of a skill's cases besides themselves.
type State struct {
	// Read are the train and validation cases, by id, that the last search had.
	Read map[string]bool
	// Heard are the cases, by id, that a trial has used; true: it is over.
	Heard map[string]bool
	// OnTrial: a challenger is on trial, and new cases are held out for it.
	OnTrial bool
}

// Assign is State.Assign for a skill of which no text was searched for.
func Assign(cases []eval.Case) { State{}.Assign(cases) }

// Assign gives every case without a split one, in place. Cases of one cluster are
// not independent, so they all go to the same split: to the one that their cluster has
// already, else as below. A case without a cluster is its own. The result does not depend
// on the order of cases. No case moves, except once: what was held out goes to train, with
// its cluster, when the trial that has used it is over. It is evidence for no other text,
// and the next search may learn from it.
//
// Clusters made of sessions are placed in the order in which the sessions took place: the
// first until a search may begin (two to train, one to val), and what follows is held
// out. Of a backlog, the cases for one search follow after every 36 that are
// held out. Once a search has read its cases, the next ones go to the next search, unless
// a challenger is on trial: it comes first. Only clusters count that can teach (see
// eval.Case.Teaches); others are held out.
//
// Imported clusters go to the split whose number of cases is furthest below its quota
// (train 40 %, val 30 %, test 30 % of the imported cases). Larger ones are placed first,
// because a late one could no longer be balanced; the SHA-256 of the cluster's name breaks
// ties.
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
// A case that is train only goes to train. In a cluster that validates or is held out it
// stays unassigned, too, and it never decides where the others of its cluster go.
//
// Trigger cases are split among themselves, as imported ones: they measure something
// else, for another tournament.
func (s State) Assign(cases []eval.Case) {
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
		s.assign(of)
	}
}

// A cluster is a group of one skill's cases that must stay together.
type cluster struct {
	hash    [sha256.Size]byte
	open    []*eval.Case // without a split
	only    []*eval.Case // without a split, and train only
	teach   int          // how many of them teach
	has     map[eval.Split]bool
	madeUp  bool      // a generated case is among them
	drawn   bool      // a case that is not train only is among them
	session bool      // a case of a session that teaches is among them
	at      time.Time // of the first of these
	read    bool      // the last search had a case
	heard   bool      // a trial had one
}

// clusters groups cases of one skill.
func (s State) clusters(cases []*eval.Case) map[string]*cluster {
	out := make(map[string]*cluster)
	for _, c := range cases {
		name := eval.ClusterOf(c)
		k := out[name]
		if k == nil {
			k = &cluster{hash: sha256.Sum256([]byte(name)), has: make(map[eval.Split]bool)}
			out[name] = k
		}
		k.madeUp = k.madeUp || c.Generated()
		k.read = k.read || s.Read[c.ID]
		if _, heard := s.Heard[c.ID]; heard {
			k.heard = true
		}
		switch {
		case c.Split != eval.Unassigned:
			k.has[c.Split] = true
		case c.TrainOnly():
			k.only = append(k.only, c)
		default:
			k.open = append(k.open, c)
		}
		if k.drawn = k.drawn || !c.TrainOnly(); !c.Teaches() || c.TrainOnly() {
			continue
		}
		if at := c.Recorded(); c.Origin() == "mined" && (!k.session || at.Before(k.at)) {
			k.session, k.at = true, at
		}
		if c.Split == eval.Unassigned {
			k.teach++
		}
	}
	for _, k := range out {
		k.session = k.session || !k.drawn
	}
	return out
}

// teachOnly gives the cases that are train only to train, unless their cluster is held out,
// validates, or is yet to be placed.
func (k *cluster) teachOnly() {
	if len(k.only) == 0 || len(k.open) > 0 || k.has[eval.Val] || k.has[eval.Test] {
		return
	}
	for _, c := range k.only {
		c.Split = eval.Train
	}
	k.has[eval.Train], k.only = true, nil
}

// move gives the cases of trials that are over to train, with their clusters.
func (s State) move(cases []*eval.Case) {
	over, open := map[string]bool{}, map[string]bool{} // by cluster
	for _, c := range cases {
		if done, heard := s.Heard[c.ID]; heard && c.Split == eval.Test {
			over[eval.ClusterOf(c)] = true
			if !done {
				open[eval.ClusterOf(c)] = true
			}
		}
	}
	teaches := map[string]bool{}
	for _, c := range cases {
		teaches[eval.ClusterOf(c)] = teaches[eval.ClusterOf(c)] || c.Teaches()
	}
	for _, c := range cases {
		if name := eval.ClusterOf(c); c.Split == eval.Test && over[name] && !open[name] && teaches[name] {
			c.Split = eval.Train
		}
	}
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

func (s State) assign(cases []*eval.Case) {
	s.move(cases)
	clusters := s.clusters(cases)
	for _, k := range clusters {
		k.teachOnly()
	}
	tallies := map[bool]*tally{false: {of: make(map[eval.Split]int)}, true: {of: make(map[eval.Split]int)}} // by Generated
	counts := func(c *eval.Case) bool {
		k := clusters[eval.ClusterOf(c)]
		return c.Teaches() && !c.TrainOnly() && !(k.session && !k.madeUp)
	}
	for _, c := range cases {
		if counts(c) {
			t := tallies[c.Generated()]
			t.total++
			if c.Split != eval.Unassigned {
				t.of[c.Split]++
			}
		}
	}
	place := func(k *cluster, to eval.Split) {
		for _, c := range k.open {
			c.Split = to
			if counts(c) {
				tallies[c.Generated()].of[to]++
			}
		}
		if len(k.open) > 0 {
			k.has[to], k.open = true, nil
			k.teachOnly()
		}
	}

	var sessions, others []*cluster
	for _, k := range clusters {
		switch {
		case len(k.has) > 0 || !k.drawn:
			for _, q := range quotas {
				if k.has[q.split] {
					if q.split != eval.Test || !k.madeUp {
						place(k, q.split)
					}
					break
				}
			}
		case k.session && !k.madeUp:
			sessions = append(sessions, k)
		default:
			others = append(others, k)
		}
	}
	s.inOrder(clusters, sessions, place)
	slices.SortFunc(others, func(a, b *cluster) int {
		return cmp.Or(cmp.Compare(b.teach, a.teach), bytes.Compare(a.hash[:], b.hash[:]))
	})
	for _, k := range others {
		if k.teach == 0 {
			place(k, eval.Test)
			continue
		}
		place(k, tallies[k.madeUp].shortest(k.hash[0], !k.madeUp))
	}
}

// inOrder places clusters of sessions in the order in which they took place.
func (s State) inOrder(all map[string]*cluster, sessions []*cluster, place func(*cluster, eval.Split)) {
	var train, val, test int // what is there for the next search, and for trials
	for _, k := range all {
		switch {
		case !k.session || k.madeUp:
		case k.has[eval.Train] && !k.read:
			train++
		case k.has[eval.Val] && !k.read:
			val++
		case k.has[eval.Test] && !k.heard:
			test++
		}
	}
	slices.SortFunc(sessions, func(a, b *cluster) int {
		return cmp.Or(a.at.Compare(b.at), bytes.Compare(a.hash[:], b.hash[:]))
	})
	for _, k := range sessions {
		searches := test / trialCases
		if !s.OnTrial {
			searches++
		}
		switch lack := (Lack{max(0, SearchTrain*searches-train), max(0, SearchVal*searches-val)}); {
		case lack == Lack{}:
			place(k, eval.Test)
			test++
		case lack.Train >= 2*lack.Val:
			place(k, eval.Train)
			train++
		default:
			place(k, eval.Val)
			val++
		}
	}
}
