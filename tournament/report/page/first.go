package page

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/charts"
)

// A first is what a run's page says before everything else.
type first struct {
	Count  string   // on how many requests the new text was better, worse, the same
	Answer string   // what follows from that
	More   []string // what else changed, and what is true of other requests
	Bars   *charts.Plot
	BarsOf string // what the bars are about
}

// firstOf sums up a run in the words of its owner.
func firstOf(m *report.Model) first {
	f := first{}
	switch v := m.Verdict; {
	case v == nil:
		f.untried(m)
	case v.Wins+v.Losses+v.Ties == 0:
		f.Count, f.Answer = "Nothing was compared yet.", answer(m)
		if v.Share != nil {
			f.Count = report.Capital(v.Share.String()) + "."
		}
	default:
		n := v.Wins + v.Losses + v.Ties
		f.Count = fmt.Sprintf("On %s%s: %d better, %d worse, %d the same.", requests(m, n), aspect(m), v.Wins, v.Losses, v.Ties)
		f.Answer = answer(m)
		f.rest(m)
	}
	if s := edited(m); s != "" {
		f.More = append(f.More, s)
	}
	f.bars(m)
	return f
}

// untried is a run whose gate did not compare anything.
func (f *first) untried(m *report.Model) {
	tried, on := 0, ""
	for _, c := range m.Candidates {
		if c.Role != "incumbent" {
			tried++
		} else if c.Metrics.Cases > 0 {
			on = " on the " + plain.Counted(c.Metrics.Cases, "request") + " that the search chose by"
		}
	}
	switch {
	case m.Status == string(record.Running):
		f.Count = "The run is at work: this is what is known so far."
	case m.Status != string(record.Finished):
		f.Count = m.Sentence
	case m.Untried() != nil:
		f.Count, f.Answer = m.Sentence, "Whether it is better is not known."
	case m.Challenger != "":
		f.Count = "A new text was better" + on + "; on requests that no search has seen it was not tried."
		f.Answer = "No answer yet."
	default:
		f.Count = fmt.Sprintf("None of %s was better than yours%s.", plain.Counted(tried, "new text"), on)
		f.Answer = "Your text stays as it is."
	}
}

// answer is the verdict in words.
func answer(m *report.Model) string {
	v := m.Verdict
	s := report.Capital(pareto.Answer(v.Verdict, v.Route))
	switch {
	case v.Verdict == pareto.Promote && v.Single:
		s += ", taken as a single trial"
	case v.Verdict == pareto.Reject:
		s += ": it is not used"
	case v.Verdict == pareto.Undecided:
		s += " so far"
	}
	return s + "."
}

// requests names n pairs.
func requests(m *report.Model, n int) string {
	mined := false
	for _, c := range m.Cases {
		if c.Split == string(eval.Test) && !c.Late {
			if c.Origin != record.Mined {
				return plain.Counted(n, "unseen request")
			}
			mined = true
		}
	}
	if !mined {
		return plain.Counted(n, "unseen request")
	}
	s := fmt.Sprintf("%d of your past requests", n)
	if m.Verdict.Share != nil {
		s += " to which the change applies"
	}
	return s
}

// aspect is what a trial of a description compares.
func aspect(m *report.Model) string {
	if triggers(m) {
		return ", whether the skill is loaded when it should be"
	}
	return ""
}

// triggers reports whether the held-out cases ask whether the skill is loaded.
func triggers(m *report.Model) bool {
	n, all := 0, 0
	for _, c := range m.Cases {
		if c.Split == string(eval.Test) {
			all++
			if c.Trigger != nil {
				n++
			}
		}
	}
	return n > 0 && n == all
}

// rest is what is known of the requests to which the change of a file of instructions
// does not apply.
func (f *first) rest(m *report.Model) {
	r := m.Verdict.Rest
	switch {
	case r == nil:
	case r.Cases == 0:
		f.More = append(f.More, "Your other requests were not compared.")
	case r.Holds:
		f.More = append(f.More, fmt.Sprintf("On %d of your other requests no harm was seen.", r.Cases))
	default:
		f.More = append(f.More, fmt.Sprintf("On %d of your other requests it is not shown yet that it does no harm.", r.Cases))
	}
}

// edited is what was added and removed.
func edited(m *report.Model) string {
	if s := m.Shorter; s != nil {
		out := plain.Counted(s.Tested+s.Untested, "line") + " removed, nothing added"
		if s.Untested > 0 {
			out += fmt.Sprintf("; no check mentions %d of them", s.Untested)
		}
		return out + "."
	}
	n, unit := map[string]int{}, "sentence"
	for _, l := range m.Lessons {
		n[l.Kind]++
	}
	if len(m.Lessons) == 0 && m.Diff != nil {
		n["added"], n["removed"], unit = m.Diff.Plus, m.Diff.Minus, "line"
	}
	var parts []string
	for _, kind := range []string{"added", "reworded", "removed"} {
		if n[kind] == 0 {
			continue
		}
		what := fmt.Sprintf("%d %s", n[kind], kind)
		if len(parts) == 0 {
			what = plain.Counted(n[kind], unit) + " " + kind
		}
		parts = append(parts, what)
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + "."
}

// bars compares no skill, the text before and the text after, each where it was measured.
func (f *first) bars(m *report.Model) {
	old, name := "your text", "new text"
	if m.Version != nil {
		old = fmt.Sprintf("before (v%d)", *m.Version)
	}
	if m.Installed != nil {
		name = fmt.Sprintf("after (v%d)", *m.Installed)
	}
	var bars []charts.Bar
	pair, n := heldOutMeans(m)
	switch inc, chal := role(m, "incumbent"), role(m, "challenger"); {
	case n > 0:
		f.BarsOf = "Mean quality on " + plain.Counted(n, "unseen request") + "."
		bars = []charts.Bar{{Class: "incumbent", Name: old, Value: pair[0]}, {Class: "challenger", Name: name, Value: pair[1]}}
	case inc != nil && inc.Metrics.N > 0:
		f.BarsOf = "Mean quality on " + plain.Counted(inc.Metrics.Cases, "request") + " that the search chose by."
		bars = append(bars, charts.Bar{Class: "incumbent", Name: old, Value: inc.Metrics.Quality})
		if chal != nil && chal.Metrics.N > 0 {
			bars = append(bars, charts.Bar{Class: "challenger", Name: name, Value: chal.Metrics.Quality})
			f.BarsOf += " Being chosen by them, the new text looks better here than it is."
		}
	}
	if w := m.Worth; w != nil && len(bars) > 0 {
		none := charts.Bar{Class: "no-skill", Name: "no skill", Value: w.Without.Quality,
			Note: fmt.Sprintf("on %d others, where your text has %.0f %%", w.With.Cases, 100*w.With.Quality)}
		bars = append([]charts.Bar{none}, bars...)
	}
	f.Bars = charts.Bars("Mean quality", bars)
}

// heldOutMeans are the mean qualities of both texts on the requests in the evidence, and the
// number of these; the cases of one session count as one.
func heldOutMeans(m *report.Model) (mean [2]float64, n int) {
	type sum struct {
		of [2]float64
		n  float64
	}
	by := map[string]*sum{}
	for _, c := range m.Cases {
		if c.Split != string(eval.Test) || c.Late || !paired(&c) {
			continue
		}
		k := by[clusterOf(&c)]
		if k == nil {
			k = &sum{}
			by[clusterOf(&c)] = k
		}
		for i := range k.of {
			k.of[i] += *c.Arms[i].Quality
		}
		k.n++
	}
	for _, k := range by {
		for i := range mean {
			mean[i] += k.of[i] / k.n / float64(len(by))
		}
	}
	return mean, len(by)
}
