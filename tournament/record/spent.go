package record

import (
	"cmp"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/content"
	"github.com/skill-evolve/evolve/eval/plain"
)

// Spent holds the cases of a skill that may not be evidence (again): a case speaks in the
// trial of one challenger, whatever incumbents come after. A later search may have
// learned from it, and so may its owner, who has seen the answers. A case is known by its
// id and, under any name, by the fingerprint of what it asks (content.Print). Fingerprints outlive their
// cases, and hold nothing of the text. nil is the same as nothing spent.
type Spent struct {
	// Key is the store's key for fingerprints.
	Key []byte
	// By is the challenger that a case was spent on, by the case's id, and
	// ByPrint by its fingerprint.
	By, ByPrint map[string]string
	// Read are fingerprints of deleted train and validation cases: a search
	// may have read them.
	Read map[string]bool
	// Frozen are the challengers that come of a suggestion, by SHA-256, with the time of its
	// last reading. It has read what the user said of earlier uses, so only later ones are
	// evidence about it: a text that is worse and repairs what it has read would be proved on
	// them.
	Frozen map[string]time.Time
}

// HasRead reports whether a challenger that comes of a suggestion may have read the case: any
// case is, but those of uses after it.
func (s *Spent) HasRead(challenger string, c *eval.Case) bool {
	at, frozen := s.Frozen[challenger]
	return frozen && !c.Recorded().After(at)
}

// On is the challenger that the case was spent on, "" if it was not.
func (s *Spent) On(c *eval.Case) string {
	if s == nil {
		return ""
	}
	if who := s.By[c.ID]; who != "" {
		return who
	}
	return s.ByPrint[s.Print(c)]
}

// Prints are the fingerprints by which a used case is recognised: of its id,
// and of what it asks.
func (s *Spent) Prints(c *eval.Case) []string {
	out := []string{s.idPrint(c.ID)}
	if p := s.Print(c); p != "" {
		out = append(out, p)
	}
	return out
}

func (s *Spent) Print(c *eval.Case) string {
	if s == nil {
		return content.Print(nil, c)
	}
	return content.Print(s.Key, c)
}

func (s *Spent) idPrint(id string) string {
	if s == nil {
		return content.PrintOf(nil, "id", id)
	}
	return content.PrintOf(s.Key, "id", id)
}

// PrintsOn are the fingerprints of all cases that were spent on a challenger.
func (s *Spent) PrintsOn(challenger string) (out []string) {
	for id, who := range s.By {
		if who == challenger {
			out = append(out, s.idPrint(id))
		}
	}
	for print, who := range s.ByPrint {
		if who == challenger {
			out = append(out, print)
		}
	}
	slices.Sort(out)
	return out
}

// Unspent counts the held-out cases among cases that a new challenger could
// be tried on, and their clusters: the gate measures one pair of each. uses are those of
// State.Begins, which leaves some out.
func (s *Spent) Unspent(cases []eval.Case, uses []Use) (n, clusters int) {
	test, _ := HeldOut(cases)
	list, _ := usable(test, s, "", nil)
	ByArrival(list)
	list, _ = new(State).Begins(list, uses)
	for _, c := range list {
		n += len(c.Cases)
	}
	return n, len(list)
}

// Unused are the cases of test that are not in used (names of clusters, and
// fingerprints of cases); of those that ask nearly the same, one cluster.
// copies counts those that are left out because of what they ask.
func (s *Spent) Unused(test []eval.Case, used []string) (kept []eval.Case, copies int) {
	open := &Spent{}
	if s != nil {
		open.Key, open.Read = s.Key, s.Read
	}
	list, copies := usable(test, open, "", used)
	for _, c := range list {
		for _, k := range c.Cases {
			kept = append(kept, *k)
		}
	}
	return kept, copies
}

// Independent is cases without the test cases that a candidate may have
// learned from: they ask nearly the same as a train or validation case, or
// share a cluster with one. copies counts these.
func Independent(cases []eval.Case) (kept []eval.Case, copies int) {
	known := make([]bool, len(cases))
	clusters := map[kind]bool{}
	for i := range cases {
		if c := &cases[i]; c.Split == eval.Train || c.Split == eval.Val {
			known[i], clusters[kindOf(c)] = true, true
		}
	}
	repeats := make([]bool, len(cases))
	test := func(i int) bool { return cases[i].Split == eval.Test }
	content.Repeats(cases, 0, func(i, j int) bool { return !(known[i] && test(j) || test(i) && known[j]) },
		func(i, j int) { repeats[i], repeats[j] = true, true })
	kept = make([]eval.Case, 0, len(cases))
	for i := range cases {
		if test(i) && (repeats[i] || clusters[kindOf(&cases[i])]) {
			copies++
			continue
		}
		kept = append(kept, cases[i])
	}
	return kept, copies
}

// A kind is a cluster of cases of one tournament.
type kind struct {
	skill, cluster string
	trigger        bool
}

func kindOf(c *eval.Case) kind { return kind{c.Skill, eval.ClusterOf(c), c.IsTrigger()} }

// HeldOut are the cases of the test split that are Independent of the others.
func HeldOut(cases []eval.Case) (test []eval.Case, copies int) {
	kept, copies := Independent(cases)
	return slices.DeleteFunc(slices.Clone(kept), func(c eval.Case) bool { return c.Split != eval.Test }), copies
}

// Repeated describes the number of copies, "" for none.
func Repeated(n int) string {
	if n == 0 {
		return ""
	}
	return plain.Counted(n, "unseen request") + " left out: the search has read the same question, or a trial has used it"
}

// A Cluster is one unit of evidence: cases that are not independent.
type Cluster struct {
	Name  string
	Cases []*eval.Case
	Place Place // see PlaceOf
}

// usable groups test by cluster, by name. It leaves out the clusters in used
// (names, and fingerprints of cases), those of which a case was spent on
// another challenger, was read by a suggestion that the challenger comes of, or was generated, and those that ask nearly the same as
// one of these. Clusters that ask nearly the same are one unit of evidence:
// the first of them is used for all. copies counts the cases that are left
// out only because of what they ask.
func usable(test []eval.Case, spent *Spent, challenger string, used []string) (out []Cluster, copies int) {
	at := map[string]int{}
	var list []Cluster
	names := map[string]bool{} // used
	for _, name := range used {
		names[name] = true
	}
	barred, asks := map[int]bool{}, map[int]bool{} // by id or cluster; by what they ask
	owner := make([]int, len(test))
	for i := range test {
		c := &test[i]
		name := eval.ClusterOf(c)
		k, ok := at[name]
		if !ok {
			k = len(list)
			at[name], list = k, append(list, Cluster{Name: name})
		}
		owner[i] = k
		list[k].Cases = append(list[k].Cases, c)
		if names[name] || names[spent.idPrint(c.ID)] || c.Generated() { // a made-up request is no evidence, even if it was held out
			barred[k] = true
		}
		if spent == nil {
			continue
		}
		if who := spent.By[c.ID]; who != "" && who != challenger || spent.HasRead(challenger, c) {
			barred[k] = true
		}
		p := spent.Print(c)
		if who := spent.ByPrint[p]; who != "" && who != challenger || p != "" && (names[p] || spent.Read[p]) {
			asks[k] = true
		}
	}
	same := newUnion(len(list))
	content.Repeats(test, 0, func(i, j int) bool { return same.root(owner[i]) == same.root(owner[j]) },
		func(i, j int) { same.join(owner[i], owner[j]) })
	gone, first := map[int]bool{}, map[int]int{}
	for k := range list {
		r := same.root(k)
		gone[r] = gone[r] || barred[k] || asks[k]
		if at, ok := first[r]; !ok || list[k].Name < list[at].Name {
			first[r] = k
		}
	}
	for k, c := range list {
		switch r := same.root(k); {
		case gone[r] || first[r] != k:
			if !barred[k] {
				copies += len(c.Cases)
			}
		default:
			slices.SortFunc(c.Cases, func(a, b *eval.Case) int { return cmp.Compare(a.ID, b.ID) })
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b Cluster) int { return cmp.Compare(a.Name, b.Name) })
	return out, copies
}

// A union is a set of numbers in disjoint groups.
type union []int

func newUnion(n int) union {
	u := make(union, n)
	for i := range u {
		u[i] = i
	}
	return u
}

func (u union) root(i int) int {
	for u[i] != i {
		u[i] = u[u[i]]
		i = u[i]
	}
	return i
}

func (u union) join(i, j int) { u[u.root(i)] = u.root(j) }
