package pareto

import (
	"fmt"
	"math"
	"strings"
)

// A Verdict is the result of a trial so far.
type Verdict string

// The verdicts.
const (
	Promote   Verdict = "promote"
	Reject    Verdict = "reject"
	Undecided Verdict = "undecided"
)

// Routes to a rejection. A route to promotion is the name of the superior
// objective; the route of an objective shown to be worse is its name, too.
const routeFutile = "futility"

// A Decision is a trial's verdict with its evidence.
type Decision struct {
	Verdict Verdict `json:"decision"`
	// Route is the objective that won or lost the trial, "futility", or ""
	// while undecided.
	Route  string `json:"route,omitempty"`
	Reason string `json:"reason"` // one sentence
	// EValue is the largest capital of the deciding e-process (quality's,
	// while undecided), and Alpha its level: decisive at EValue ≥ 1/Alpha.
	EValue float64 `json:"e_value"`
	Alpha  float64 `json:"alpha"`
	// Wins, Losses and Ties count the pairs by quality.
	Wins         int                 `json:"wins"`
	Losses       int                 `json:"losses"`
	Ties         int                 `json:"ties"`
	Cases        int                 `json:"cases"` // pairs added, those without quality included
	PerObjective []ObjectiveEvidence `json:"per_objective"`
	Warnings     []string            `json:"warnings,omitempty"`
}

// ObjectiveEvidence is a trial's evidence on one objective. Every e-value is
// the running maximum (Process.Max); at 1/level it is decisive.
type ObjectiveEvidence struct {
	Objective string   `json:"objective"`
	Measured  bool     `json:"measured"`  // at least one pair has it
	Estimate  Estimate `json:"estimate"`  // mean difference, anytime interval
	Better    float64  `json:"better"`    // against "no better"
	Within    float64  `json:"within"`    // against "worse by the tolerance or more"
	Worse     float64  `json:"worse"`     // against "no worse" (quality) or "within tolerance"
	Smaller   float64  `json:"smaller"`   // against "better by the gain that matters or more"
	Alpha     float64  `json:"alpha"`     // level of Better and Worse
	Tolerance float64  `json:"tolerance"` // in the unit of the estimate
}

// Total is the level of all routes to promotion together.
func (d *Decision) Total() (sum float64) {
	for _, o := range d.PerObjective {
		sum += o.Alpha
	}
	return sum
}

// Asks is the e-value that the deciding route needs for a promotion at the
// given level over all routes; its share of the level is the same as in the
// trial's own rule.
func (d *Decision) Asks(level float64) float64 {
	total := d.Total()
	if !(d.Alpha > 0) || !(total > 0) {
		return math.Inf(1)
	}
	return total / (d.Alpha * min(level, total))
}

// Lasts reports whether d is a promotion at the given level over all routes,
// instead of its trial's own level.
func (d *Decision) Lasts(level float64) bool {
	// Allow for rounding: the levels were divided and multiplied again.
	return d.Verdict == Promote && d.EValue >= d.Asks(level)*(1-1e-9)
}

func (t *Trial) level(o Objective) float64 { return t.cfg.limits()[o].Alpha }

// reached reports whether p refutes its hypothesis at level alpha. It compares
// logs: 1/alpha as a quotient would be off by a rounding.
func reached(p *Process, alpha float64) bool { return p.peak >= -math.Log(alpha) }

func (t *Trial) better(o Objective) bool { return reached(&t.evidence[o].better, t.level(o)) }
func (t *Trial) within(o Objective) bool {
	return reached(&t.evidence[o].within, t.cfg.ToleranceAlpha)
}

// Measured reports whether any pair has a value of the objective.
func (t *Trial) Measured(o Objective) bool { return t.evidence[o].n > 0 }

// othersWithin reports whether every measured objective except o is shown to
// be within its tolerance. Quality is always required, measured or not.
func (t *Trial) othersWithin(o Objective) bool {
	for x := range Objective(objectives) {
		if x != o && (x == Quality || t.Measured(x)) && !t.within(x) {
			return false
		}
	}
	return true
}

// judge closes the trial if the evidence suffices.
func (t *Trial) judge() {
	for o := range Objective(objectives) {
		if t.better(o) && t.othersWithin(o) {
			t.verdict, t.route = Promote, o.String()
			return
		}
	}
	for o := range Objective(objectives) {
		if reached(&t.evidence[o].worse, t.level(o)) {
			t.verdict, t.route = Reject, o.String()
			return
		}
	}
	if t.futile() {
		t.verdict, t.route = Reject, routeFutile
	}
}

// futile reports whether no measured objective can still win by as much as
// matters. It needs quality at least: without it nothing is known.
func (t *Trial) futile() bool {
	if !t.Measured(Quality) {
		return false
	}
	for o := range Objective(objectives) {
		if t.Measured(o) && !reached(&t.evidence[o].smaller, t.cfg.FutilityAlpha) {
			return false
		}
	}
	return true
}

// intervalLevel is the largest coverage of a shown interval.
const intervalLevel = 0.95

// sparse is the share of missing pairs that calls for a warning: pairs may
// not be missing at random.
const sparse = 0.2

// Decide returns the verdict after the pairs so far. It may be called at any
// time and as often as wanted: the rule is applied in Add, so looking changes
// nothing.
func (t *Trial) Decide() Decision {
	d := Decision{Verdict: t.verdict, Route: t.route, Cases: len(t.pairs)}
	limits := t.cfg.limits()
	for o := range Objective(objectives) {
		diffs := make([]float64, 0, len(t.pairs))
		for _, p := range t.pairs {
			if v := p.values()[o]; !math.IsNaN(v) {
				diffs = append(diffs, v)
			}
		}
		e := &t.evidence[o]
		per := ObjectiveEvidence{
			Objective: o.String(), Measured: t.Measured(o), Estimate: Compare(diffs, t.cfg.IntervalLevel(o)),
			Better: e.better.Max(), Within: e.within.Max(), Worse: e.worse.Max(), Smaller: e.smaller.Max(),
			Alpha: limits[o].Alpha, Tolerance: limits[o].Tolerance,
		}
		d.PerObjective = append(d.PerObjective, per)
		missing := len(t.pairs) - e.n
		switch {
		case len(t.pairs) == 0:
		case e.n == 0:
			d.Warnings = append(d.Warnings, NeverMeasured(o))
		case float64(missing) > sparse*float64(len(t.pairs)):
			d.Warnings = append(d.Warnings, fmt.Sprintf("%v is missing in %d of %d cases", o, missing, len(t.pairs)))
		}
	}
	q := d.PerObjective[Quality].Estimate
	d.Wins, d.Losses, d.Ties = q.Wins, q.Losses, q.Ties
	d.EValue, d.Alpha, d.Reason = t.explain(d.PerObjective)
	return d
}

// NeverMeasured is the warning about an objective that no pair has a value of.
func NeverMeasured(o Objective) string {
	return fmt.Sprintf("%v was never measured and is not part of the verdict", o)
}

// Verdict is the verdict of Decide alone: without the intervals, which take
// most of its time.
func (t *Trial) Verdict() Verdict { return t.verdict }

// EValue is the e-value of Decide, and as cheap as Verdict.
func (t *Trial) EValue() float64 {
	e, _ := t.deciding(t.decider())
	return e
}

// decider is the objective that decided the verdict; quality if the reason is
// another or none.
func (t *Trial) decider() Objective {
	for o := range Objective(objectives) {
		if t.route == o.String() {
			return o
		}
	}
	return Quality
}

// deciding is the e-value that decides the verdict, or that it waits for, and
// its level.
func (t *Trial) deciding(o Objective) (e, alpha float64) {
	evidence := &t.evidence[o]
	switch {
	case t.verdict == Reject && t.route == routeFutile:
		// The objective that agreed last is the one that decided.
		e = math.Inf(1)
		for x := range Objective(objectives) {
			if t.Measured(x) {
				e = min(e, t.evidence[x].smaller.Max())
			}
		}
		return e, t.cfg.FutilityAlpha
	case t.verdict == Reject:
		return evidence.worse.Max(), t.cfg.limits()[o].Alpha
	default:
		return evidence.better.Max(), t.cfg.limits()[o].Alpha
	}
}

// explain gives the reason for the verdict in one sentence with numbers.
func (t *Trial) explain(per []ObjectiveEvidence) (e, alpha float64, reason string) {
	o := t.decider()
	e, alpha = t.deciding(o)
	head := fmt.Sprintf("%s over %s", change(o, per[o].Estimate), counted(per[o].Estimate.N))
	switch {
	case t.verdict == Promote && o == Quality:
		reason = fmt.Sprintf("%s: e = %.3g reached %.3g, and nothing else is worse than its tolerance",
			head, e, 1/alpha)
	case t.verdict == Promote:
		reason = fmt.Sprintf("%s: e = %.3g reached %.3g, quality is not lower by %g or more (e = %.3g of %.3g), and nothing else is worse than its tolerance",
			head, e, 1/alpha, per[Quality].Tolerance, per[Quality].Within, 1/t.cfg.ToleranceAlpha)
	case t.verdict == Reject && t.route == routeFutile:
		reason = fmt.Sprintf("%s: no gain as large as the smallest that matters (quality %+.2g) is left on any objective, e = %.3g reached %.3g",
			head, t.cfg.Quality.Gain, e, 1/alpha)
	case t.verdict == Reject:
		what := "the challenger is worse"
		if o != Quality {
			what = "that is beyond the tolerance"
		}
		reason = fmt.Sprintf("%s: %s, e = %.3g reached %.3g", head, what, e, 1/alpha)
	default:
		reason = t.waiting(per, head)
	}
	return e, alpha, reason
}

// Outstanding are the objectives that keep a trial from a promotion whatever quality shows:
// they are measured, and not yet shown to be within their tolerance.
func (t *Trial) Outstanding() (open []Objective) {
	if t.verdict != Undecided {
		return nil
	}
	for o := Latency; o < objectives; o++ {
		if t.Measured(o) && !t.within(o) {
			open = append(open, o)
		}
	}
	return open
}

// waiting describes how far an open trial has come.
func (t *Trial) waiting(per []ObjectiveEvidence, head string) string {
	if len(t.pairs) == 0 {
		return "no case was compared yet"
	}
	if !t.Measured(Quality) {
		return fmt.Sprintf("quality is missing in all of %s", counted(len(t.pairs)))
	}
	var open []string
	for _, o := range t.Outstanding() {
		open = append(open, fmt.Sprintf("%v (e = %.3g of %.3g)", o, per[o].Within, 1/t.cfg.ToleranceAlpha))
	}
	s := fmt.Sprintf("%s: e = %.3g of the %.3g that would prove it", head, per[Quality].Better, 1/per[Quality].Alpha)
	if len(open) > 0 {
		s += ", not yet shown to be within tolerance: " + strings.Join(open, ", ")
	}
	return s
}

func counted(n int) string {
	if n == 1 {
		return "1 held-out case"
	}
	return fmt.Sprintf("%d held-out cases", n)
}

// Words puts the estimate into words in the objective's own direction and unit.
func (e ObjectiveEvidence) Words() string {
	for o := range Objective(objectives) {
		if o.String() == e.Objective {
			return change(o, e.Estimate)
		}
	}
	return "" // no objective of this package
}

// change puts an estimate into words in the objective's own direction and unit.
func change(o Objective, e Estimate) string {
	if Objectives[o].Ratio {
		times := func(d float64) float64 { return math.Pow(4, -d) }
		return fmt.Sprintf("%v ×%.2f (%.0f%% interval ×%.2f to ×%.2f)",
			o, times(e.Mean), 100*e.Level, times(e.High), times(e.Low))
	}
	if o == Retries { // a Pair counts retries saved
		return fmt.Sprintf("%v %+.2f (%.0f%% interval %+.2f to %+.2f)", o, 0-e.Mean, 100*e.Level, 0-e.High, 0-e.Low)
	}
	return fmt.Sprintf("%v %+.2f (%.0f%% interval %+.2f to %+.2f)", o, e.Mean, 100*e.Level, e.Low, e.High)
}
