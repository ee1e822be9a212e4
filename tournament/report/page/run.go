package page

import (
	"fmt"
	"io"
	"math"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/gate"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/report/charts"
)

// runView is what a run's page shows.
type runView struct {
	*report.Model
	Facts                            []fact
	Contents                         []link
	Quality, Evidence, Lineage, Heat *charts.Plot
	Scatter                          *charts.Scatter
	Held                             *held
	Shown, Hidden                    []report.Candidate // with metrics: of interest, and the rest
	Key                              []charts.Sign
	Shades                           []charts.Sign
	Taught                           []lessonView
	HeatNote                         string
	Columns                          []string
	HeatRows                         []heatRow
	List                             caseList
	Bills                            []billView
	BarsOf                           string
}

// Run writes the report of a run as one self-contained page: no script, no network.
func Run(m *report.Model) func(io.Writer) error {
	v := &runView{Model: m, Quality: charts.Quality(m), Evidence: charts.Evidence(m), Lineage: charts.Lineage(m),
		Heat:    charts.Heat(m.Matrix, [2]charts.Role{{SHA: m.Incumbent, Name: "incumbent", Short: "inc."}, {SHA: m.Challenger, Name: "challenger", Short: "chal."}}),
		Scatter: charts.ScatterOf(m), Held: heldOut(m.Verdict), List: listCases(m.Cases, fmt.Sprintf("`evolve report %s --json`", m.Run), decidedOn(m))}
	v.Facts = facts(m)
	v.candidates()
	v.Taught = taughtBy(m)
	v.heatTable()
	v.Bills, v.BarsOf = bills(m.Spending, m.Spent)
	v.Key = charts.Signs()
	v.Shades = charts.Shades()
	for _, c := range []struct {
		link
		there bool
	}{{link{"evidence", "Held-out evidence"}, v.Held != nil}, {link{"objectives", "Objectives"}, v.Scatter != nil || v.Shown != nil},
		{link{"search", "Search"}, v.Quality != nil || v.Lineage != nil}, {link{"change", "What changed"}, m.Diff != nil && len(m.Diff.Lines) > 0},
		{link{"map", "Cases × candidates"}, v.Heat != nil}, {link{"cases", "Cases"}, len(v.List.Groups) > 0}, {link{"spent", "Spent"}, true}} {
		if c.there {
			v.Contents = append(v.Contents, c.link)
		}
	}
	return render("run.html", v)
}

// facts are the cost, the next step, and the worth of the texts.
func facts(m *report.Model) []fact {
	out := []fact{{"cost", spentText(m.Spent)}}
	var inc, chal *report.Candidate
	for i := range m.Candidates {
		switch m.Candidates[i].Role {
		case "incumbent":
			inc = &m.Candidates[i]
		case "challenger":
			chal = &m.Candidates[i]
		}
	}
	name := "incumbent"
	if m.Version != nil {
		name = fmt.Sprintf("v%d", *m.Version)
	}
	if inc != nil && inc.Metrics.N > 0 {
		s := fmt.Sprintf("quality %.2f with %s", inc.Metrics.Quality, name)
		if chal != nil && chal.Metrics.N > 0 {
			s += fmt.Sprintf(", %.2f with the challenger %s", chal.Metrics.Quality, plain.Short(chal.SHA))
			if m.Confirmed() != nil {
				s += ", in a trial that had no part in choosing it"
			}
		}
		out = append(out, fact{"validation", s + "; " + plain.Counted(inc.Metrics.Cases, "case")})
	}
	if m.Heard != nil {
		out = append(out, fact{"heard", m.Heard.String()})
	}
	if w := m.Worth; w != nil {
		all := 0
		if inc != nil {
			all = inc.Metrics.Cases
		}
		out = append(out, fact{"worth", report.Worth(w, name, all)})
	}
	if m.Note != "" {
		out = append(out, fact{"ended by", plain.Excerpt(m.Note, 200)})
	}
	return append(out, fact{"next", m.Next})
}

// decidedOn is the split that decides whether the challenger is better: what
// the gate measured, or without a gate validation.
func decidedOn(m *report.Model) string {
	if m.Verdict != nil {
		return string(eval.Test)
	}
	return string(eval.Val)
}

// held is the table of the gate's evidence.
type held struct {
	Scope  string
	Rows   []heldRow
	Forest *charts.Plot
}

type heldRow struct {
	Objective, Change, Interval, Score, Better, Within string
	Measured                                           bool
}

// heldOut formats differences in the usual form: new against old, costs and
// durations as a ratio.
func heldOut(v *gate.Verdict) *held {
	if v == nil {
		return nil
	}
	var rows []charts.ForestRow
	h := &held{Scope: fmt.Sprintf("%s: %d won, %d lost, %d tied on quality", plain.Counted(v.Wins+v.Losses+v.Ties, "held-out case"), v.Wins, v.Losses, v.Ties)}
	for i := range v.PerObjective {
		o := &v.PerObjective[i]
		r := heldRow{Objective: o.Objective, Measured: o.Measured}
		if o.Measured {
			e := o.Estimate
			r.Change = against(o, e.Mean)
			lo, hi := against(o, e.Low), against(o, e.High)
			if o.Objective != "quality" { // less is better: the bounds change places
				lo, hi = hi, lo
			}
			r.Interval = fmt.Sprintf("%s to %s (%.0f%%)", lo, hi, 100*e.Level)
			r.Score = fmt.Sprintf("%d/%d/%d", e.Wins, e.Losses, e.Ties)
			r.Better = pareto.ChanceOf(o.Better, o.Alpha)
			if o.Objective == pareto.Quality.String() {
				r.Within = pareto.Chance(o.Within)
			}
			rows = append(rows, charts.ForestRow{Name: o.Objective, Low: e.Low, Mid: e.Mean, High: e.High, Tolerance: -o.Tolerance,
				Differs: e.Low > 0 || e.High < 0, Title: fmt.Sprintf("%s: %s, %s", o.Objective, r.Change, r.Interval)})
		}
		h.Rows = append(h.Rows, r)
	}
	h.Forest = charts.Forest("incumbent", "challenger", rows)
	return h
}

func against(o *pareto.ObjectiveEvidence, d float64) string {
	switch o.Objective {
	case "latency", "cost":
		return fmt.Sprintf("×%.2f", pareto.Times(d))
	case "retries":
		return fmt.Sprintf("%+.2f", 0-d)
	}
	return fmt.Sprintf("%+.2f", d)
}

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
			name = "incumbent"
		} else if sha == v.Challenger {
			name = "challenger"
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
		row := heatRow{N: i + 1, Split: r.Split}
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

type lessonView struct {
	Class, Mark, Text, Was, Because string
	Cases                           []lessonCase
	More                            int
}

type lessonCase struct {
	N         int // of the case in this report, 0 for none
	ID, Words string
}

// citedCases is the number of cases shown for a sentence.
const citedCases = 3

func taughtBy(m *report.Model) (out []lessonView) {
	number := map[string]int{}
	for _, c := range m.Cases {
		number[c.ID] = c.N
	}
	for _, l := range m.Lessons {
		v := lessonView{"up", "+", clip(l.Text, checkRunes), clip(l.Was, checkRunes), plain.Excerpt(l.Because, 300), nil, 0}
		switch l.Kind {
		case "removed":
			v.Class, v.Mark = "down", "−"
		case "reworded":
			v.Class, v.Mark = "", "~"
		}
		seen := map[string]bool{}
		for _, s := range l.Steps {
			for _, c := range s.Cases {
				switch {
				case seen[c.Case]:
				case len(v.Cases) == citedCases:
					v.More++
				default:
					v.Cases = append(v.Cases, lessonCase{number[c.Case], plain.Text(c.Case), plain.Excerpt(c.Words, 240)})
				}
				seen[c.Case] = true
			}
		}
		out = append(out, v)
	}
	return out
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
		b := billView{Kind: s.Kind, Calls: thousands(s.Calls), Tokens: countText(s.Tokens), Cost: report.USD(s.CostUSD)}
		if x := value(s); x != nil && sum > 0 {
			b.Bar, b.Share = fmt.Sprintf("M0 0H%.1fV8H0Z", 100**x/sum), fmt.Sprintf("%.0f%%", 100**x/sum)
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
	return fmt.Sprintf("%s, %s tokens, %s rollouts, %s", s.Dollars(), thousands(s.TokensIn+s.TokensOut), thousands(s.Rollouts), report.Duration(s.WallMS))
}

func totalBill(s eval.Spent) billView {
	return billView{Kind: "together", Calls: thousands(s.AgentCalls + s.JudgeCalls + s.MutatorCalls + s.MinerCalls),
		Tokens: thousands(s.TokensIn + s.TokensOut), Cost: s.Dollars()}
}
