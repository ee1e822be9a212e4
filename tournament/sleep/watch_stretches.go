package sleep

import (
	"fmt"
	"slices"
)

// A Predecessor is a text that was in place before the watched one.
type Predecessor struct {
	SHA  string
	Name string // as people call it: "v3"
	// Suspect: it had an alarm, so it is no measure of its successors.
	Suspect bool
}

// A stretch sums up the sessions of some predecessors together.
//
// The hypothesis is that the watched version is no worse than each of its
// predecessors. Then it is no worse than any mean over them either, whatever
// their rates: a bound of that mean is one for the best of them, too. The
// bound of upper holds for coins of different chances, and what Compare
// refutes of the mean it refutes of the smallest. If the rates differ, such a
// bound is not narrow; but if each version lived for a dozen sessions only,
// as nightly improvements do, there is no narrower one.
type stretch struct {
	sessions
	of []int // indices of predecessors
}

// fewest is the least number of sessions of a stretch; with fewer, even one
// without any failure has a bound of more than a third.
const fewest = 10

// stretches are the newest predecessor, the newest two, and so on: each with
// at least twice the sessions of the one before it, so that there are few,
// and all of them; and by itself the one that lived longest, which may have
// been better than its successors. Numbers of sessions alone choose them,
// never the outcomes: the doubt is divided evenly over them. of is the
// predecessor of each use, -1 for none.
func stretches(before []Predecessor, uses []Use, of []int) (out []stretch) {
	collect := func(members ...int) (s stretch) {
		s.of = members
		for i, u := range uses {
			if slices.Contains(members, of[i]) {
				s.add(u)
			}
		}
		return s
	}
	var lived []int
	size, kept, longest, most := 0, 0, -1, 0
	for k := range before {
		n := len(collect(k).order)
		if n == 0 {
			continue
		}
		lived, size = append(lived, k), size+n
		if n > most {
			longest, most = k, n
		}
		if size >= max(fewest, 2*kept) {
			out, kept = append(out, collect(slices.Clone(lived)...)), size
		}
	}
	if size > kept {
		out = append(out, collect(lived...))
	}
	alone := func(s stretch) bool { return len(s.of) == 1 && s.of[0] == longest }
	if most >= fewest && !slices.ContainsFunc(out, alone) {
		out = append(out, collect(longest))
	}
	return out
}

// named is the name of a stretch for people.
func (s *stretch) named(before []Predecessor) string {
	newest, oldest := before[s.of[0]].Name, before[s.of[len(s.of)-1]].Name
	switch n := len(s.of); n {
	case 1:
		return newest
	case 2:
		return oldest + " and " + newest
	default:
		return fmt.Sprintf("%d versions from %s to %s", n, oldest, newest)
	}
}
