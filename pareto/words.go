package pareto

import (
	"fmt"
	"math"
	"strings"
)

// The words of a decision. How sure something is stands in one form on every screen: at
// most one time in so many it comes as far by chance, that is, if there is no difference.
// That is the e-value, rounded down, by Ville's inequality: however often one looks.

// The words of a verdict on every screen. JSON has the names of the Verdicts.
const (
	luck         = " (at most 5 % luck)"
	Better       = "better" + luck
	Likely       = "probably better"
	NoDifference = "no difference seen"
)

// Answer is the verdict of a trial for a person, without a full stop; route is that of its
// decision, "" if it is not known.
func Answer(v Verdict, route string) string {
	switch quality := route == Quality.String() || route == ""; {
	case v == Promote && quality:
		return Better
	case v == Promote && route == Cost.String():
		return "no worse, and cheaper" + luck
	case v == Promote && route == Latency.String():
		return "no worse, and faster" + luck
	case v == Promote:
		return "no worse, and better in " + route + luck
	case v == Promising:
		return Likely
	case v == Reject && route == "":
		return "not better"
	case v == Reject && route == routeElsewhere:
		return "worse on other requests"
	case v == Reject && quality:
		return "worse"
	case v == Reject && route != routeDropped:
		return "worse in " + route
	case v == Reject || v == Undecided:
		return NoDifference
	}
	return string(v) // of a trial that has no verdict: withdrawn, never tried
}

// Chance says how sure something with this e-value is, "no difference seen yet" below promising.
func Chance(e float64) string {
	if !(e >= promising) {
		return NoDifference + " yet"
	}
	return "at most 1 time in " + times(Odds(e)) + " by chance"
}

// ChanceOf is Chance, and what decides at a level.
func ChanceOf(e, level float64) string { return Chance(e) + "; " + Proves(level) + " decides" }

// Proves is the chance that decides at a level.
func Proves(level float64) string {
	n := 1e9
	if level > 1e-9 {
		n = math.Ceil(1/level - 1e-6)
	}
	return "1 in " + times(int(n))
}

// mostTimes is the largest number that is told of how often something happens by chance:
// beyond it the model of the world is the weaker part.
const mostTimes = 1_000_000

func times(n int) string {
	if n >= mostTimes {
		return "a million"
	}
	return fmt.Sprint(n)
}

// explain gives the reason for the verdict in one sentence with numbers.
func (t *Trial) explain(per []ObjectiveEvidence) (e, alpha float64, reason string) {
	o := t.decider()
	e, alpha = t.deciding(o)
	head := t.head(o, &per[o])
	others := "nothing else is worse than its tolerance" + t.bounds(o, per)
	if c := t.evidence[Cost]; c.n > 0 && c.mean() < -t.cfg.Cost.Tolerance {
		others += " but " + change(Cost, per[Cost].Estimate) + ", which does not count: it is in tokens without a price, or a trifle"
	}
	switch {
	case t.outdated && t.verdict != Undecided:
		reason = head + ": decided under the rule of an older evolve"
	case t.verdict == Promote && o == Quality:
		reason = fmt.Sprintf("%s: %s, and %s", head, Chance(e), others)
	case t.verdict == Promote:
		reason = fmt.Sprintf("%s: %s, quality is not lower by %g or more (%s), and %s",
			head, Chance(e), per[Quality].Tolerance, Chance(per[Quality].Within), others)
	case t.verdict == Reject && t.route == routeDropped:
		reason = fmt.Sprintf("%s: dropped, because the chance of a gain that matters is only %s", head, t.hopes())
	case t.verdict == Reject && t.route == routeElsewhere:
		return e, alpha, fmt.Sprintf("%s: the new text is worse there, %s", t.restEvidence().Words(), Chance(e))
	case t.verdict == Reject:
		what := "the new text is worse"
		if o != Quality {
			what = "that is beyond the tolerance"
		}
		reason = fmt.Sprintf("%s: %s, %s", head, what, Chance(e))
	default:
		reason = t.waiting(per, head)
	}
	if rest := t.restEvidence(); rest != nil && (rest.Cases > 0 || t.WantsRest()) {
		reason += "; " + rest.Words()
	}
	return e, alpha, reason
}

// bounds are how much dearer and slower the challenger may be, where that is measured: the
// ends of the intervals.
func (t *Trial) bounds(won Objective, per []ObjectiveEvidence) string {
	var of []string
	for _, o := range []Objective{Cost, Latency} {
		switch at := Times(per[o].Estimate.Low); {
		case o == won || !t.Measured(o):
		case at >= 0.99*clip:
			of = append(of, fmt.Sprintf("%v not bounded yet", o))
		default:
			of = append(of, fmt.Sprintf("%v at most ×%.1f", o, math.Ceil(10*at-1e-9)/10))
		}
	}
	if len(of) == 0 {
		return ""
	}
	return " (" + strings.Join(of, ", ") + ")"
}

// hopes are the chances of a gain that matters in quality, and in the other objective that has
// the most: that of a text that only lacks lines is usually the cost.
func (t *Trial) hopes() string {
	chance := func(o Objective) string {
		return fmt.Sprintf("%.0f %% for %v (%s)", 100*t.hope(o), o, Change(o.String(), t.matters(o)))
	}
	best := Quality
	for o := Latency; o < objectives; o++ {
		if t.Measured(o) && (best == Quality || t.hope(o) > t.hope(best)) {
			best = o
		}
	}
	if best == Quality {
		return chance(Quality)
	}
	return chance(Quality) + " and " + chance(best)
}

// head is the estimate of an objective that the verdict is about: at the pair that decided,
// then, if that was not the last one, as it is now. Of a quality that is likely to be better
// the gain to expect stands beside the mean.
func (t *Trial) head(o Objective, per *ObjectiveEvidence) string {
	e := per.Estimate
	if per.Proved != nil && t.verdict == Promote {
		e = *per.Proved
	}
	s := change(o, e) + " over " + counted(e.N)
	if t.cfg.Rest != (Limit{}) {
		s = fmt.Sprintf("on %s to which the changed rules apply %s", requests(e.N), change(o, e))
	}
	if e.N != per.Estimate.N {
		s += fmt.Sprintf(" (now %s over %d)", change(o, per.Estimate), per.Estimate.N)
	}
	if v := t.Verdict(); o == Quality && (v == Promote || v == Promising) {
		s += fmt.Sprintf(", expect about %+.2f", t.expected(o))
	}
	return s
}

// waiting describes how far an open trial has come.
func (t *Trial) waiting(per []ObjectiveEvidence, head string) string {
	if len(t.pairs) == 0 {
		return "no case was compared yet"
	}
	if !t.Measured(Quality) {
		return fmt.Sprintf("quality is missing in all of %s", counted(len(t.pairs)))
	}
	s := fmt.Sprintf("%s: not told from chance yet; %s decides", head, Proves(per[Quality].Alpha))
	if t.Verdict() == Promising {
		q := per[Quality].Estimate
		s = fmt.Sprintf("%s: %s; %s decides", head, Promises(q.Wins, q.Losses, per[Quality].Better), Proves(per[Quality].Alpha))
	}
	if held := t.Held(); held != "" {
		s = head + ": " + held
	} else if won := t.won(); won != "" {
		s = fmt.Sprintf("%s: there it is better, %s", head, Chance(t.evidence[named(won)].better.Max()))
	}
	var open []string
	for o := range Objective(objectives) {
		if t.verdict == Undecided && t.beyond(o) {
			open = append(open, change(o, per[o].Estimate))
		}
	}
	if len(open) > 0 {
		s += ", held back by " + strings.Join(open, ", ")
	}
	return s
}

// Promises says how far a promising challenger has come, with quality's e-value.
func Promises(wins, losses int, e float64) string {
	return fmt.Sprintf("%d better and %d worse, %s", wins, losses, Chance(e))
}

func requests(n int) string {
	if n == 1 {
		return "1 request"
	}
	return fmt.Sprintf("%d requests", n)
}

func counted(n int) string {
	if n == 1 {
		return "1 request it never saw"
	}
	return fmt.Sprintf("%d requests it never saw", n)
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

// Change puts a mean difference into words, in the direction and unit of the objective of
// that name.
func Change(objective string, d float64) string {
	for o := range Objective(objectives) {
		switch {
		case o.String() != objective:
		case Objectives[o].Ratio:
			return fmt.Sprintf("×%.2f", Times(d))
		case o == Retries: // a Pair counts retries saved
			return fmt.Sprintf("%+.2f", 0-d)
		}
	}
	return fmt.Sprintf("%+.2f", d)
}

// change puts an estimate into words in the objective's own direction and unit.
func change(o Objective, e Estimate) string {
	if Objectives[o].Ratio {
		return fmt.Sprintf("%v ×%.2f (%.0f %% interval ×%.2f to ×%.2f)",
			o, Times(e.Mean), 100*e.Level, Times(e.High), Times(e.Low))
	}
	if o == Retries { // a Pair counts retries saved
		return fmt.Sprintf("%v %+.2f (%.0f %% interval %+.2f to %+.2f)", o, 0-e.Mean, 100*e.Level, 0-e.High, 0-e.Low)
	}
	return fmt.Sprintf("%v %+.2f (%.0f %% interval %+.2f to %+.2f)", o, e.Mean, 100*e.Level, e.Low, e.High)
}
