package pareto

import (
	"maps"
	"math"
	"slices"
)

// Strata counts uses by what became of them, so that the cases that could be
// made of them stand for all: a correction is replayed more often than a use
// about which nothing was said, and a text that breaks what works would look
// better than it is. The zero value has counted nothing.
type Strata struct {
	Uses  map[string]int // all of them, by stratum
	Cases map[string]int // those that are evidence
}

// Use counts a use, and Case that it is evidence. A case is weighted before it
// is counted: its weight must not depend on it.
func (s *Strata) Use(stratum string) { s.Uses = plusOne(s.Uses, stratum) }

// Case counts a case.
func (s *Strata) Case(stratum string) { s.Cases = plusOne(s.Cases, stratum) }

func plusOne(in map[string]int, of string) map[string]int {
	if in == nil {
		in = map[string]int{}
	}
	in[of]++
	return in
}

// Weight is the share of a stratum among the uses counted so far, over its
// share among the cases, and the largest weight of any stratum: a Pair's Weight
// and Largest. Half a use and half a case are added to each stratum, so that
// the first ones do not weigh too much.
func (s *Strata) Weight(stratum string) (w, largest float64) {
	known := map[string]bool{stratum: true}
	for name := range s.Uses {
		known[name] = true
	}
	uses, cases := 0.0, 0.0
	for name := range known {
		uses += float64(s.Uses[name]) + 0.5
		cases += float64(s.Cases[name]) + 0.5
	}
	for name := range known {
		x := (float64(s.Uses[name]) + 0.5) / uses * cases / (float64(s.Cases[name]) + 0.5)
		if largest = max(largest, x); name == stratum {
			w = x
		}
	}
	return w, largest
}

// Window is how many of the latest uses weights rest on, with the cases among them: where
// one kind of use is replayed less than before, the weights of a whole trial would follow
// only slowly.
const Window = 80

const (
	// recentUses is how many of the latest uses Gone looks at.
	recentUses = 40
	// mustHear is the share of the recent uses from which a stratum must have cases.
	mustHear = 0.05
	// unlikely is the probability below which a run of uses without a case is no accident.
	unlikely = 0.01
)

// A Use is one use, and whether it can be a case.
type Use struct {
	Stratum string
	Replays bool
}

// Gone returns a stratum that had cases and has none any more although it makes up at least
// mustHear of the recent uses; "" if there is none. A case of another stratum cannot represent
// all uses then, whatever its weight. before are all uses before the case, oldest first; of are
// the strata of the case itself, which are not checked.
func Gone(before []Use, of ...string) string {
	recent := map[string]int{}
	from := max(0, len(before)-recentUses)
	for _, u := range before[from:] {
		recent[u.Stratum]++
	}
	for _, name := range slices.Sorted(maps.Keys(recent)) {
		if slices.Contains(of, name) || float64(recent[name]) < mustHear*float64(len(before)-from) {
			continue
		}
		uses, cases, without := 0, 0, 0 // up to its last case, and after it
		for _, u := range before {
			switch {
			case u.Stratum != name:
			case u.Replays:
				uses, cases, without = uses+without+1, cases+1, 0
			default:
				without++
			}
		}
		if p := (float64(cases) + 0.5) / (float64(uses) + 1); cases > 0 && math.Pow(1-p, float64(without)) < unlikely {
			return name
		}
	}
	return ""
}
