package record

import (
	"cmp"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/pareto"
)

// A Use is one use of a skill, whether a case could be made of it or not.
type Use struct {
	Time    time.Time
	Stratum string
}

// imported is the stratum of cases that are no uses of the owner's: of them it is
// not known how common they are.
const imported = "imported"

// StratumOf is the stratum of a case.
func StratumOf(c *eval.Case) string {
	if c.Source == nil {
		return imported
	}
	return cmp.Or(c.Source.Stratum, imported)
}

// Arrived is when the use behind the first case of a cluster took place, the zero
// time if that is not known.
func (c *Cluster) Arrived() (at time.Time) {
	for _, k := range c.Cases {
		if k.Source != nil && (at.IsZero() || k.Source.Time.Before(at)) {
			at = k.Source.Time
		}
	}
	return at
}

// Weights returns the weight of each of the cluster's cases, and the largest one of
// any stratum: its share among the uses before the cluster arrived, over its
// share among the cases that were measured before. measured is State.Measured.
func (c *Cluster) Weights(uses []Use, measured pareto.Strata) (weights []float64, largest float64) {
	strata := pareto.Strata{Cases: measured.Cases}
	at := c.Arrived()
	for _, u := range uses {
		if u.Time.Before(at) {
			strata.Use(u.Stratum)
		}
	}
	for _, k := range c.Cases {
		w, most := 1., 1.
		if s := StratumOf(k); s != imported && len(uses) > 0 {
			w, most = strata.Weight(s)
		}
		weights, largest = append(weights, w), max(largest, most)
	}
	return weights, largest
}

// ByArrival sorts clusters by the time of their uses: evidence enters in that
// order, never by its kind. Those of no known time stay where they are among
// themselves, behind the others.
func ByArrival(list []Cluster) {
	slices.SortStableFunc(list, func(a, b Cluster) int {
		x, y := a.Arrived(), b.Arrived()
		if x.IsZero() != y.IsZero() {
			if x.IsZero() {
				return 1
			}
			return -1
		}
		return x.Compare(y)
	})
}

// silenced is the share of the held-out cases that may be left out because only
// an untrusted judge could hear them.
const silenced = 0.05

// Asks reports whether a judge makes a check of the cases.
func Asks(cases ...*eval.Case) bool {
	return slices.ContainsFunc(cases, func(c *eval.Case) bool {
		return slices.ContainsFunc(c.Checks, func(k eval.Check) bool { return k.Type == eval.Judge })
	})
}

// Unheard reports whether nothing may be evidence yet: a judge that is not trusted
// would have to hear a twentieth of the held-out cases, and what is left does not
// stand for all uses.
func Unheard(test []eval.Case, c Calibration) bool {
	asked := RestsOnJudge(test)
	return !c.Trusted() && asked > 0 && float64(asked) >= silenced*float64(len(test))
}
