package pareto

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// A challenger is dropped once it has little chance of a gain that matters:
// most texts that a search finds are no better, and each would take hundreds of
// cases to be shown worse, while no other text is tried.
const (
	leastHope  = 0.15
	hopeAfter  = 8 // pairs
	mattersOf  = 5 // a gain of a fifth of the failures matters
	usualOf    = 3 // a challenger's gain is a third of the failures, usually,
	varyingBy  = 2 // and varies by half of them
	noFailures = 0.05
	// usualVariance is that of differences of quality.
	usualVariance = 0.25
)

// prior is what challengers gain on an objective before anything is measured,
// normally distributed: with quality, a third of the incumbent's failures; with
// the others, nothing.
func (t *Trial) prior(o Objective) (mean, sd float64) {
	if o != Quality {
		gain := t.cfg.limits()[o].Gain
		return 0, gain
	}
	f := max(t.cfg.Failures, noFailures)
	return f / usualOf, f / varyingBy
}

// matters is the smallest gain on an objective that does.
func (t *Trial) matters(o Objective) float64 {
	if o != Quality {
		return t.cfg.limits()[o].Gain
	}
	return max(t.cfg.Failures, noFailures) / mattersOf
}

// posterior is the prior corrected by the pairs: of a normal mean with the
// variance of the differences, to which two of the usual size are added, because
// a few that are equal say little of it.
func (t *Trial) posterior(o Objective) (mean, sd float64) {
	e := &t.evidence[o]
	mean, sd = t.prior(o)
	if e.n == 0 {
		return mean, sd
	}
	n, prior := float64(e.n), 1/(sd*sd)
	usual := usualVariance
	if o != Quality {
		usual = sd * sd
	}
	variance := (e.spread() + 2*usual*e.weights2/n) / (n + 2)
	data := e.weights * e.weights / n / variance
	return (mean*prior + e.mean()*data) / (prior + data), math.Sqrt(1 / (prior + data))
}

// hope is the chance of a gain that matters.
func (t *Trial) hope(o Objective) float64 {
	mean, sd := t.posterior(o)
	return distuv.Normal{Mu: mean, Sigma: sd}.Survival(t.matters(o))
}

// expected is the gain to expect: not the mean, which boasts of a challenger
// that was chosen because it did well.
func (t *Trial) expected(o Objective) float64 {
	mean, _ := t.posterior(o)
	return mean
}

// hopeless reports whether no measured objective has a chance left to win.
func (t *Trial) hopeless() bool {
	if n := t.evidence[Quality].n; n < hopeAfter || t.cfg.Removes && n < RestLeast {
		return false
	}
	for o := range Objective(objectives) {
		if t.Measured(o) && t.hope(o) >= leastHope {
			return false
		}
	}
	return true
}
