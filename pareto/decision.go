package pareto

import (
	"fmt"
	"math"
	"strings"
)

// A Verdict is the result of a trial so far.
type Verdict string

// The verdicts. A trial is open while it is Undecided or Promising.
const (
	Promote   Verdict = "promote"
	Reject    Verdict = "reject"
	Undecided Verdict = "undecided"
	Promising Verdict = "promising"
)

// IsOpen reports whether a trial with this verdict goes on.
func (v Verdict) IsOpen() bool { return v == Undecided || v == Promising }

// routeDropped is the route to a rejection for want of hope. A route to
// promotion is the name of the superior objective; the route of an objective
// shown to be worse is its name, too.
const routeDropped = "dropped"

// routeElsewhere is the route to a rejection because of the requests that the trial is not about.
const routeElsewhere = "elsewhere"

// promising is the e-value of quality from which a challenger is promising: a
// text that is no better ever reaches it with probability 1/4 at most.
const promising = 4

// A Decision is a trial's verdict with its evidence.
type Decision struct {
	Verdict Verdict `json:"decision"`
	// Route is the objective that won or lost the trial, "dropped", or ""
	// while it is open.
	Route  string `json:"route,omitempty"`
	Reason string `json:"reason"` // one sentence
	// EValue is the largest capital of the deciding e-process (quality's,
	// while the trial is open), and Alpha its level: decisive at EValue ≥
	// 1/Alpha. Hope is the chance of a gain that matters (hopeless).
	EValue float64 `json:"e_value"`
	Alpha  float64 `json:"alpha"`
	Hope   float64 `json:"hope"`
	// ToleranceAlpha is the level at which quality is shown not to be lower by its
	// tolerance.
	ToleranceAlpha float64 `json:"tolerance_alpha,omitempty"`
	// Margin is the least by which it was shown that quality is not lower, of a
	// promotion that rests on another objective; else nil.
	Margin *float64 `json:"margin,omitempty"`
	// Gain is the gain in quality to expect in use: the mean, moved towards
	// what challengers usually gain.
	Gain float64 `json:"gain"`
	// Bill is what the challenger's requests cost against the incumbent's, in
	// sums instead of ratios; 0 if that is unknown.
	Bill float64 `json:"bill,omitempty"`
	// Rest is the evidence on the requests that the trial is not about; nil if it is about all.
	Rest *RestEvidence `json:"rest,omitempty"`
	// Workers is the evidence without each worker of a fleet; nil if none had a part.
	Workers []WithoutWorker `json:"workers,omitempty"`
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
	Measured  bool     `json:"measured"` // at least one pair has it
	Estimate  Estimate `json:"estimate"` // mean difference, anytime interval
	// Proved is the estimate at the pair that refuted "no better"; nil if none has.
	Proved    *Estimate `json:"proved,omitempty"`
	Better    float64   `json:"better"`             // against "no better"
	Within    float64   `json:"within"`             // of quality: against "worse by the tolerance or more"
	Worse     float64   `json:"worse"`              // against "no worse" (quality) or "within tolerance"
	Beyond    bool      `json:"beyond,omitempty"`   // its tolerance: what holds back a promotion
	Trifling  bool      `json:"trifling,omitempty"` // it holds back nothing, whatever it is
	Alpha     float64   `json:"alpha"`              // level of Better and Worse
	Tolerance float64   `json:"tolerance"`          // in the unit of the estimate
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

// Needed is how many pairs with a quality prove a promising challenger at its present rate:
// evidence grows exponentially with the pairs, so its logarithm grows in proportion. 0 if
// that is more than ForecastCap, if it is not promising, or if quality is shown and
// something else holds it back.
func (d *Decision) Needed() int {
	pairs := d.PerObjective[Quality].Estimate.N
	if d.Verdict != Promising || !(d.EValue > 1) || !(d.Alpha > 0) {
		return 0
	}
	n := int(math.Ceil(float64(pairs) * math.Log(1/d.Alpha) / math.Log(d.EValue)))
	if n <= pairs || n > ForecastCap {
		return 0
	}
	return n
}

// Lasts reports whether d is a promotion at the given level over all routes,
// instead of its trial's own level.
func (d *Decision) Lasts(level float64) bool {
	// Allow for rounding: the levels were divided and multiplied again.
	if d.Verdict != Promote || d.Proof() < d.Asks(level)*(1-1e-9) {
		return false
	}
	total, n := d.Total(), d.NotLower()
	return n == 0 || n*min(level, total)/total >= 1-1e-9
}

// Proof is the e-value that a promotion rests on: the smallest of EValue and that without any
// one worker.
func (d *Decision) Proof() float64 {
	e := d.EValue
	for _, w := range d.Workers {
		e = min(e, w.EValue)
	}
	return e
}

// NotLower is how often over the evidence suffices that quality is not lower, on which a win
// elsewhere also rests; 0 of a win by quality, and without a win.
func (d *Decision) NotLower() float64 {
	if d.Verdict != Promote || d.Route == Quality.String() || len(d.PerObjective) == 0 {
		return 0
	}
	within := d.PerObjective[Quality].Within
	for _, w := range d.Workers {
		within = min(within, w.Within)
	}
	return Finite(within * d.ToleranceAlpha)
}

func (t *Trial) level(o Objective) float64 { return t.cfg.limits()[o].Alpha }

// reached reports whether p refutes its hypothesis at level alpha. It compares
// logs: 1/alpha as a quotient would be off by a rounding.
func reached(p *Process, alpha float64) bool { return p.peak >= -math.Log(alpha) }

func (t *Trial) better(o Objective) bool { return reached(&t.evidence[o].better, t.level(o)) }

// Measured reports whether any pair has a value of the objective.
func (t *Trial) Measured(o Objective) bool { return t.evidence[o].n > 0 }

// floorUSD is the smallest difference in cost, in dollars a request, that counts as worse:
// the price of about 300 tokens.
const floorUSD = 0.001

// shownBeyond reports whether latency, cost or retries are shown to be beyond
// their tolerance, beyond whether they hold back a promotion: because of that,
// or because their mean is.
func (s *sample) shownBeyond(cfg *Config, o Objective) bool {
	return o != Quality && reached(&s.evidence[o].worse, cfg.GuardAlpha) && !s.trifling(o)
}

func (s *sample) beyond(cfg *Config, o Objective) bool {
	e := &s.evidence[o]
	return o != Quality && e.n > 0 && !s.trifling(o) && (e.mean() < -cfg.limits()[o].Tolerance || reached(&e.worse, cfg.GuardAlpha))
}

func (t *Trial) beyond(o Objective) bool { return t.sample.beyond(&t.cfg, o) }

// trifling reports whether a cost may differ by any ratio: it was compared in
// tokens, because no price is known, or the difference is a small sum.
func (s *sample) trifling(o Objective) bool {
	if o != Cost {
		return false
	}
	more, n := 0., 0.
	for i := range s.pairs {
		if p := &s.pairs[i]; !math.IsNaN(p.Cost) {
			more, n = more+p.Bill.USD[1]-p.Bill.USD[0], n+1
		}
	}
	return more < floorUSD*n // also without a price
}

// bill is the sum of what the challenger's requests cost over the incumbent's;
// 0 if it is unknown.
func (t *Trial) bill() float64 {
	var usd, tokens [2]float64
	for i := range t.pairs {
		for arm := range usd {
			usd[arm] += t.pairs[i].Bill.USD[arm]
			tokens[arm] += t.pairs[i].Bill.Tokens[arm]
		}
	}
	for _, sum := range [][2]float64{usd, tokens} {
		if sum[0] > 0 && sum[1] > 0 {
			return sum[1] / sum[0]
		}
	}
	return 0
}

// judge closes the trial if the evidence suffices.
func (t *Trial) judge() {
	if r := t.proves(); r != "" && t.HeldBy() == "" {
		t.verdict, t.route = Promote, r
	} else if r := t.refuted(); r != "" {
		t.verdict, t.route = Reject, r
	}
}

// refuted is the route by which the evidence rejects, "" for none.
func (t *Trial) refuted() string {
	for o := range Objective(objectives) {
		if o == Quality && reached(&t.evidence[o].worse, t.level(o)) || t.shownBeyond(&t.cfg, o) {
			return o.String()
		}
	}
	switch {
	case t.restHarmed():
		return routeElsewhere
	case t.hopeless():
		return routeDropped
	}
	return ""
}

// won is the route by which the evidence promotes, "" for none. The rest may still hold it back.
func (t *Trial) won() string {
	for o := range Objective(objectives) {
		if t.beyond(o) {
			return ""
		}
	}
	if t.better(Quality) {
		return Quality.String()
	}
	if !reached(&t.evidence[Quality].within, t.cfg.ToleranceAlpha) {
		return ""
	}
	for o := Latency; o < objectives; o++ {
		if t.better(o) && (o != Cost || t.bill() <= 1) { // usually cheaper is not cheaper if a few answers are far dearer
			return o.String()
		}
	}
	return ""
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
	d := Decision{Verdict: t.Verdict(), Route: t.route, Cases: len(t.pairs), Hope: t.hope(Quality), Gain: t.expected(Quality), Bill: t.bill(), ToleranceAlpha: t.cfg.ToleranceAlpha}
	limits := t.cfg.limits()
	for o := range Objective(objectives) {
		e := &t.evidence[o]
		per := ObjectiveEvidence{
			Objective: o.String(), Measured: t.Measured(o), Estimate: t.estimate(o, len(t.pairs)),
			Better: e.better.Max(), Within: e.within.Max(), Worse: e.worse.Max(), Beyond: t.beyond(o), Trifling: t.trifling(o),
			Alpha: limits[o].Alpha, Tolerance: limits[o].Tolerance,
		}
		if e.crossed > 0 {
			at := t.estimate(o, e.crossed)
			per.Proved = &at
		}
		d.PerObjective = append(d.PerObjective, per)
		missing := len(t.pairs) - e.n
		switch {
		case len(t.pairs) == 0 || t.cfg.Without.Has(o):
		case e.n == 0:
			d.Warnings = append(d.Warnings, fmt.Sprintf("%v was never measured and is not part of the verdict", o))
		case float64(missing) > sparse*float64(len(t.pairs)):
			d.Warnings = append(d.Warnings, fmt.Sprintf("%v is missing in %d of %d cases", o, missing, len(t.pairs)))
		}
	}
	if d.Verdict == Promote && d.Route != Quality.String() {
		m := t.margin()
		d.Margin = &m
	}
	d.Rest, d.Workers = t.restEvidence(), t.WithoutEach(t.pending().String())
	if by := t.rejectedBy(); len(by) > 0 {
		d.Warnings = append(d.Warnings, "rejected with all pairs, not without those of worker "+strings.Join(by, ", nor of "))
	}
	q := d.PerObjective[Quality].Estimate
	d.Wins, d.Losses, d.Ties = q.Wins, q.Losses, q.Ties
	d.EValue, d.Alpha, d.Reason = t.explain(d.PerObjective)
	return d
}

// estimate is of the first n pairs.
func (t *Trial) estimate(o Objective, n int) Estimate {
	if t.cfg.Without.Has(o) {
		return estimate(nil, o, t.cfg.IntervalLevel(o))
	}
	return estimate(t.pairs[:n], o, t.cfg.IntervalLevel(o))
}

func estimate(pairs []Pair, o Objective, level float64) Estimate {
	var d, weights, largest []float64
	for _, p := range pairs {
		if v := *Objectives[o].Of(&p); !math.IsNaN(v) {
			w, most := p.weight()
			d, weights, largest = append(d, v), append(weights, w), append(largest, most)
		}
	}
	return compare(d, weights, largest, level)
}

// Verdict is the verdict of Decide alone: without the intervals, which take
// most of its time.
func (t *Trial) Verdict() Verdict {
	if t.verdict == Undecided && t.Measured(Quality) && (t.evidence[Quality].better.E() >= promising || t.HeldBy() != "") {
		return Promising
	}
	return t.verdict
}

// EValue is the e-value of Decide, and as cheap as Verdict.
func (t *Trial) EValue() float64 {
	e, _ := t.deciding(t.decider())
	return e
}

// decider is the objective that decided the verdict; quality if the reason is
// another or none.
func (t *Trial) decider() Objective { return named(t.route) }

// named is the objective of that name, quality if there is none.
func named(name string) Objective {
	for o := range Objective(objectives) {
		if name == o.String() {
			return o
		}
	}
	return Quality
}

// Decider is the objective that decided the verdict, or that it waits for, and how many
// pairs the decision rests on: of a promotion those up to the one that refuted "no better".
func (t *Trial) Decider() (o Objective, pairs int) {
	o = t.decider()
	if n := t.evidence[o].crossed; n > 0 && t.verdict == Promote {
		return o, n
	}
	return o, len(t.pairs)
}

// deciding is the e-value that decides the verdict, or that it waits for, and
// its level.
func (t *Trial) deciding(o Objective) (e, alpha float64) {
	evidence := &t.evidence[o]
	switch {
	case t.verdict == Reject && t.route == routeElsewhere:
		return t.restAgainst()
	case t.verdict == Reject && t.route != routeDropped:
		if o != Quality {
			return evidence.worse.Max(), t.cfg.GuardAlpha
		}
		return evidence.worse.Max(), t.cfg.limits()[o].Alpha
	default:
		return evidence.better.Max(), t.cfg.limits()[o].Alpha
	}
}

// Outstanding are the objectives that keep a trial from a promotion whatever quality shows:
// they are beyond their tolerance so far.
func (t *Trial) Outstanding() (open []Objective) {
	for o := Latency; o < objectives && t.verdict == Undecided; o++ {
		if t.beyond(o) || t.rest.beyond(&t.cfg, o) {
			open = append(open, o)
		}
	}
	return open
}

// Dropped reports whether the trial ended for want of hope: nothing was shown to be worse.
func (d *Decision) Dropped() bool { return d.Verdict == Reject && d.Route == routeDropped }
