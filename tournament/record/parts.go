package record

import (
	"fmt"
	"math"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
)

// A Part is the part of the requests that one belongs to in a trial of a file of instructions:
// every turn loads the file, and a change of it applies to some of them. A trial of a skill
// has one part, All.
type Part string

// The parts. What is Unread is in neither of the others until a reader has decided.
const (
	All     Part = ""
	Applies Part = "applies"
	Rest    Part = "rest"
	Unread  Part = "unread"
)

// Parts are what a reader decided before anything was replayed: of cases by their ids, and of
// uses in their order. Left counts the cases that are undecided.
type Parts struct {
	Cases map[string]Part
	Uses  []Part
	Left  int
	// Removes: the change only removes lines.
	Removes bool
}

// Divide keeps the parts of cases. One that is decided stays as it is for the whole trial,
// whatever a reader says later, so that no answer can have a part in it.
func (st *State) Divide(p *Parts) {
	for id, part := range p.Cases {
		if _, known := st.Parts[id]; known || part != Applies && part != Rest {
			continue
		}
		if st.Parts == nil {
			st.Parts = map[string]Part{}
		}
		st.Parts[id] = part
	}
}

// divided reports whether the trial is about a part of the requests.
func (st *State) divided() bool { return len(st.Parts) > 0 }

// Of are the cases of a part. The clusters of the rest have names of their own: a session may
// have requests of both parts, and gives a pair to each of the two samples.
func (st *State) Of(test []eval.Case, part Part) (out []eval.Case) {
	for _, c := range test {
		if st.Parts[c.ID] != part {
			continue
		}
		if part == Rest {
			c.Cluster = restCluster(eval.ClusterOf(&c))
		}
		out = append(out, c)
	}
	return out
}

const restPrefix = "rest:"

func restCluster(name string) string { return restPrefix + name }

// part is that of a cluster, by its first case.
func (st *State) part(c *Cluster) Part {
	if len(c.Cases) == 0 {
		return All
	}
	return st.Parts[c.Cases[0].ID]
}

// In are the uses of a part.
func In(uses []Use, part Part) []Use {
	return slices.DeleteFunc(slices.Clone(uses), func(u Use) bool { return u.Part != part })
}

// BeginsRest are the clusters of the rest, in the order given, that may be measured next: see
// Begins. list is in random order.
func (st *State) BeginsRest(list []Cluster, uses []Use) (kept []Cluster, out LeftOut) {
	at := slices.Clone(list)
	ByArrival(at)
	from := State{Since: st.RestSince, Weights: st.Weights}
	at, out = from.Begins(at, In(uses, Rest))
	if len(st.Rest) == 0 && len(at) > 0 {
		st.RestSince = at[0].Arrived()
	}
	begins := map[string]bool{}
	for i := range at {
		begins[at[i].Name] = !at[i].Arrived().Before(st.RestSince)
	}
	return slices.DeleteFunc(slices.Clone(list), func(c Cluster) bool { return !begins[c.Name] }), out
}

// next are the cases that the trial goes on with: all, or those of the part that is measured
// next and those that no reader has decided.
func (st *State) next(test []eval.Case) (out []eval.Case) {
	if !st.divided() {
		return test
	}
	out = st.Of(test, All)
	if st.Trial.WantsRest() {
		return append(out, st.Of(test, Rest)...)
	}
	return append(out, st.Of(test, Applies)...)
}

// leastParts is how many requests must be decided before a trial does without the rest, and
// rare the share of the rest below which it does.
const (
	leastParts = 20
	rare       = 0.05
)

// Share is how many requests a reader decided, and to how many of them a change applies.
type Share struct {
	Applies int `json:"applies"`
	Rest    int `json:"rest"`
	Left    int `json:"undecided,omitempty"`
}

// Share counts the decided requests: the uses, as far as they are known, else the cases.
func (st *State) Share(uses []Use, left int) *Share {
	if !st.divided() && left == 0 {
		return nil
	}
	s := &Share{Left: left}
	count := func(p Part) {
		switch p {
		case Applies:
			s.Applies++
		case Rest:
			s.Rest++
		}
	}
	for _, u := range uses {
		count(u.Part)
	}
	if s.Applies+s.Rest == 0 {
		for _, p := range st.Parts {
			count(p)
		}
	}
	return s
}

// Share is State.Share of the stored trial, by its cases; nil if nothing is decided.
func (t *TrialRecord) Share() (*Share, error) {
	st, err := t.read()
	if err != nil {
		return nil, err
	}
	return st.Share(nil, 0), nil
}

// Of is the share, 0 if nothing is decided.
func (s *Share) Of() float64 {
	if s.Applies+s.Rest == 0 {
		return 0
	}
	return float64(s.Applies) / float64(s.Applies+s.Rest)
}

// String says it in words.
func (s *Share) String() string {
	n := s.Applies + s.Rest
	switch {
	case n == 0:
		return fmt.Sprintf("it is not known to which requests the changed rules apply: %d are undecided", s.Left)
	case s.Applies == 0:
		return fmt.Sprintf("the changed rules apply to none of your last %s", plain.Counted(n, "request"))
	case s.Of() > 0.5:
		return fmt.Sprintf("the changed rules apply to %d of your last %s", s.Applies, plain.Counted(n, "request"))
	}
	return fmt.Sprintf("the changed rules apply to about 1 in %.0f of your requests (%d of %d)", math.Round(1/s.Of()), s.Applies, n)
}

// WeighParts tells an open trial which share of the requests it is about. That is decided by what
// requests there are and never by an answer.
func (st *State) WeighParts(s *Share) {
	rule := st.Trial.Config()
	if s == nil || s.Applies+s.Rest == 0 || rule.Rest.Alpha == 0 || !st.Trial.Verdict().IsOpen() {
		return
	}
	// Of a case that the uses do not have, their share would be 0.
	if rule.Share = max(s.Of(), 1/float64(s.Applies+s.Rest+1)); rule != st.Trial.Config() {
		st.Trial = st.Trial.Under(rule)
	}
}

// WithoutRest has a trial do without the rest if there hardly is any: the changed rules apply
// to nearly all requests. That is decided by what requests there are and never by an answer.
func (st *State) WithoutRest(s *Share) {
	rule := st.Trial.Config()
	if s == nil || s.Applies+s.Rest < leastParts || 1-s.Of() >= rare || st.Trial.RestCases() > 0 || rule.Rest.Alpha == 0 {
		return
	}
	rule.Rest.Alpha, rule.Rest.Tolerance, rule.Share = 0, 0, 0
	st.Trial = st.Trial.Under(rule)
}
