package pareto

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
