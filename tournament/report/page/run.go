package page

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/charts"
)

// runView is what a run's page shows.
type runView struct {
	*report.Model
	First                            first
	Facts                            []fact // on the first screen
	Exact                            []fact // how it was decided
	Contents                         []link
	Quality, Evidence, Lineage, Heat *charts.Plot
	Scatter                          *charts.Scatter
	Held                             *held
	Shown, Hidden                    []report.Candidate // with metrics: of interest, and the rest
	Key                              []charts.Sign
	Shades                           []charts.Sign
	Diff                             *taughtDiff
	HeatNote                         string
	Columns                          []string
	HeatRows                         []heatRow
	List                             caseList
	Bills                            []billView
	BarsOf                           string
}

// Run writes the report of a run as one self-contained page: no script, no network.
func Run(m *report.Model) func(io.Writer) error {
	v := &runView{Model: m, First: firstOf(m), Quality: charts.Quality(m), Evidence: charts.Evidence(m), Lineage: charts.Lineage(m),
		Heat:    charts.Heat(m.Matrix, [2]charts.Role{{SHA: m.Incumbent, Name: yours(m), Short: "yours"}, {SHA: m.Challenger, Name: "new text", Short: "new"}}),
		Scatter: charts.ScatterOf(m), Held: heldOut(m.Verdict), List: listCases(m.Cases, fmt.Sprintf("`evolve report %s --json`", m.Run), decidedBy(m))}
	v.Facts, v.Exact = []fact{{"cost", spentText(m.Spent)}, {"next", m.Next}}, exact(m)
	v.candidates()
	v.Diff = taught(m)
	v.heatTable()
	v.Bills, v.BarsOf = bills(m.Spending, m.Spent)
	v.Key = charts.Signs()
	v.Shades = charts.Shades()
	for _, c := range []struct {
		link
		there bool
	}{{link{"change", "What changes"}, v.Diff != nil}, {link{"decided", "How it was decided"}, true},
		{link{"search", "The search"}, v.Searched()}, {link{"map", "Requests × texts"}, v.Heat != nil},
		{link{"cases", "The requests"}, len(v.List.Groups) > 0}, {link{"spent", "Cost"}, true}} {
		if c.there {
			v.Contents = append(v.Contents, c.link)
		}
	}
	return render("run.html", v)
}

// Hook reports whether the run is of a hook, whose sessions are replayed without rollouts.
func (v *runView) Hook() bool { return subject.Parse(v.Skill).Kind == subject.Hook }

// Searched reports whether the run searched; a check of a given text does not.
func (v *runView) Searched() bool {
	return slices.ContainsFunc(v.Events, func(s report.Step) bool { return s.Kind == "search_start" || s.Kind == "seed" })
}

// yours names the owner's text.
func yours(m *report.Model) string {
	if m.Version == nil {
		return "your text"
	}
	return fmt.Sprintf("your text v%d", *m.Version)
}

func role(m *report.Model, name string) *report.Candidate {
	i := slices.IndexFunc(m.Candidates, func(c report.Candidate) bool { return c.Role == name })
	if i < 0 {
		return nil
	}
	return &m.Candidates[i]
}

// exact are the figures behind the answer, with a plain word for each.
func exact(m *report.Model) (out []fact) {
	add := func(name, format string, args ...any) { out = append(out, fact{name, fmt.Sprintf(format, args...)}) }
	add("verdict", "%s", m.Sentence)
	if v := m.Verdict; v != nil && v.Alpha > 0 {
		add("luck (e)", "e is how strongly the requests so far speak for the new text: a text that is no better reaches e only 1 time in e by luck. It is %.1f, and %.0f decides. One may look at any time.", v.EValue, 1/v.Alpha)
	}
	if n := m.Noise; n != nil {
		add("noise (ε)", "the same text on the same request differs by ±%.2f in quality from one try to the next (%s). Between the texts of the search a smaller difference counts as none.", n.Quality, plain.Counted(n.Pairs, "repeated answer"))
	}
	if v := m.Verdict; v != nil && v.Judge != nil {
		add("judge (κ)", "how far the judge agrees with you: 1 is always, 0 is no more than by chance. %s.", report.Capital(v.Judge.String()))
	}
	if inc := role(m, "incumbent"); inc != nil && inc.Metrics.N > 0 {
		name := "your text"
		if m.Version != nil {
			name = fmt.Sprintf("v%d", *m.Version)
		}
		s := fmt.Sprintf("quality %.2f with %s", inc.Metrics.Quality, name)
		if chal := role(m, "challenger"); chal != nil && chal.Metrics.N > 0 {
			s += fmt.Sprintf(", %.2f with the new text %s", chal.Metrics.Quality, plain.Short(chal.SHA))
			if m.Confirmed() != nil {
				s += ", in a trial that had no part in choosing it"
			}
		}
		add("validation", "%s; %s that the search chose by, no evidence", s, plain.Counted(inc.Metrics.Cases, "request"))
		if w := m.Worth; w != nil {
			add("worth", "%s", report.Worth(w, name, inc.Metrics.Cases))
		}
	}
	if pair, n := heldOutMeans(m); n > 0 && m.Verdict != nil && len(m.Verdict.PerObjective) > 0 {
		if q := m.Verdict.PerObjective[0]; q.Measured && math.Abs(pair[1]-pair[0]-q.Estimate.Mean) > 0.005 {
			add("weights", "the verdict counts a request as much as its kind is frequent in your use (%+.2f); the bars count all alike (%+.2f)", q.Estimate.Mean, pair[1]-pair[0])
		}
	}
	if m.Heard != nil {
		add("requests", "%s", m.Heard.String())
	}
	if m.Note != "" {
		add("ended by", "%s", plain.Excerpt(m.Note, 200))
	}
	return out
}

// decidedBy tells which cases decide whether the challenger is better: the pairs of the
// gate, or without a gate validation.
func decidedBy(m *report.Model) decided {
	if m.Verdict == nil {
		return decided{split: string(eval.Val)}
	}
	d := decided{split: string(eval.Test), pairs: map[string]int{}}
	for i, e := range m.Evidence {
		if e.Quality == nil || math.IsNaN(*e.Quality) {
			continue
		}
		// A pair of an earlier run has no name here.
		d.pairs[cmp.Or(e.Cluster, fmt.Sprint("\x00", i))] = int(cmp.Compare(*e.Quality, 0))
	}
	if len(d.pairs) == 0 {
		d.pairs = nil
	}
	return d
}

// held is the table of the gate's evidence.
type held struct {
	Scope  string
	Rows   []heldRow
	Forest *charts.Plot
	Past   bool // quality has reached its line, and something else holds the verdict back
}

type heldRow struct {
	Objective, Change, Interval, Score, Better, Within string
	Measured                                           bool
}

// names are the objectives in words.
var names = map[string]string{"quality": "quality", "latency": "time", "cost": "cost", "retries": "corrections"}

// heldOut formats differences in the usual form: new against old, costs and
// durations as a ratio.
func heldOut(v *gate.Verdict) *held {
	if v == nil || v.Cases == 0 {
		return nil
	}
	var rows []charts.ForestRow
	h := &held{Scope: fmt.Sprintf("%s: %d better, %d worse, %d the same in quality", plain.Counted(v.Wins+v.Losses+v.Ties, "unseen request"), v.Wins, v.Losses, v.Ties),
		Past: v.Verdict.IsOpen() && v.EValue*v.Alpha >= 1}
	for i := range v.PerObjective {
		o := &v.PerObjective[i]
		r := heldRow{Objective: cmp.Or(names[o.Objective], o.Objective), Measured: o.Measured}
		if o.Measured {
			e := o.Estimate
			r.Change = against(o, e.Mean)
			lo, hi := against(o, e.Low), against(o, e.High)
			if o.Objective != "quality" { // less is better: the bounds change places
				lo, hi = hi, lo
			}
			r.Interval = fmt.Sprintf("%s to %s (%.0f %%)", lo, hi, 100*e.Level)
			r.Score = fmt.Sprintf("%d/%d/%d", e.Wins, e.Losses, e.Ties)
			r.Better = pareto.Chance(o.Better)
			if o.Objective == pareto.Quality.String() {
				r.Within = pareto.Chance(o.Within)
			}
			rows = append(rows, charts.ForestRow{Name: r.Objective, Low: e.Low, Mid: e.Mean, High: e.High, Tolerance: -o.Tolerance, Bound: "accepted to " + against(o, -o.Tolerance),
				Change: r.Change, Differs: e.Low > 0 || e.High < 0, Title: fmt.Sprintf("%s: %s, %s", r.Objective, r.Change, r.Interval)})
		}
		h.Rows = append(h.Rows, r)
	}
	h.Forest = charts.Forest("your text", "new text", rows)
	return h
}

func against(o *pareto.ObjectiveEvidence, d float64) string { return pareto.Change(o.Objective, d) }

// shownCandidates is how many rows the table of candidates has before it folds.
const shownCandidates = 12

func (v *runView) candidates() {
	for _, c := range v.Model.Candidates {
		switch {
		case c.Metrics.N == 0:
		case c.Role != "" || c.OnFront && len(v.Shown) < 2*shownCandidates || len(v.Model.Candidates) <= shownCandidates:
			v.Shown = append(v.Shown, c)
		default:
			v.Hidden = append(v.Hidden, c)
		}
	}
	if w := v.Worth; w != nil {
		v.Shown = append(v.Shown, report.Candidate{Operator: "no skill", Metrics: w.Without})
	}
}

// heatColumns is how many candidates the map's table names.
const heatColumns = 10

type heatRow struct {
	N     int
	Split string
	Cells []string
}

// heatTable is the map as a table for readers who cannot see it; of many
// candidates it has the two that matter, and the spread of the others.
func (v *runView) heatTable() {
	at := []int{}
	for i, sha := range v.Matrix.Candidates {
		role := sha == v.Incumbent || sha == v.Challenger
		if len(v.Matrix.Candidates) > heatColumns && !role {
			continue
		}
		at = append(at, i)
		name := plain.Head(sha, 8)
		if sha == v.Incumbent {
			name = "your text"
		} else if sha == v.Challenger {
			name = "new text"
		}
		v.Columns = append(v.Columns, name)
	}
	many := len(at) < len(v.Matrix.Candidates)
	if many {
		v.Columns = append(v.Columns, "mean", "least", "most", "measured")
		v.HeatNote = fmt.Sprintf("Mean, least and most are over all %d candidates that measured the case.", len(v.Matrix.Candidates))
	}
	for i := range v.Matrix.Rows {
		r := &v.Matrix.Rows[i]
		row := heatRow{N: i + 1, Split: charts.SplitName(r.Split)}
		for _, k := range at {
			row.Cells = append(row.Cells, quality(r.Cells[k]))
		}
		if many {
			lo, hi, n := math.Inf(1), math.Inf(-1), 0
			for _, q := range r.Cells {
				if q != nil {
					lo, hi, n = min(lo, *q), max(hi, *q), n+1
				}
			}
			mean := r.Mean()
			row.Cells = append(row.Cells, quality(&mean), quality(&lo), quality(&hi), fmt.Sprint(n))
		}
		v.HeatRows = append(v.HeatRows, row)
	}
}

type billView struct {
	Kind, Calls, Tokens, Cost, Bar, Share string
}

// bills lays out spending with each kind's share of the dollars or, if one of
// them is unknown, of the tokens; of names the unit.
func bills(all []report.Spending, total eval.Spent) (out []billView, of string) {
	value := func(s report.Spending) *float64 { return s.CostUSD }
	of = "share of the cost"
	for _, s := range all {
		if s.CostUSD == nil && (s.Calls > 0 || s.Tokens != nil && *s.Tokens > 0) {
			of = "share of the tokens"
			value = func(s report.Spending) *float64 {
				if s.Tokens == nil {
					return nil
				}
				x := float64(*s.Tokens)
				return &x
			}
		}
	}
	sum := 0.0
	for _, s := range all {
		if x := value(s); x != nil {
			sum += *x
		}
	}
	for _, s := range all {
		b := billView{Kind: s.Kind, Calls: plain.Grouped(s.Calls), Tokens: countText(s.Tokens), Cost: report.USD(s.CostUSD)}
		if x := value(s); x != nil && sum > 0 {
			b.Bar, b.Share = fmt.Sprintf("M0 0H%.1fV8H0Z", 100**x/sum), fmt.Sprintf("%.0f %%", 100**x/sum)
		}
		out = append(out, b)
	}
	return append(out, totalBill(total)), of
}

// spentText formats a bill in one line.
func spentText(s eval.Spent) string {
	if s.Nothing() {
		return s.Dollars()
	}
	return fmt.Sprintf("%s, %s tokens, %s rollouts, %s", s.Dollars(), plain.Thousands(s.TokensIn+s.TokensOut), plain.Grouped(s.Rollouts), plain.Duration(s.WallMS))
}

func totalBill(s eval.Spent) billView {
	return billView{Kind: "together", Calls: plain.Grouped(s.AgentCalls + s.JudgeCalls + s.MutatorCalls + s.MinerCalls),
		Tokens: plain.Thousands(s.TokensIn + s.TokensOut), Cost: s.Dollars()}
}
