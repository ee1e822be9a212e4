package charts

import (
	"fmt"
	"math"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/report"
)

// mostEvidence is the end of the axis of e-values.
const mostEvidence = 1e8

// Evidence draws the e-processes of the gate over the pairs of held-out requests, on
// a logarithmic axis, with the lines that they have to reach. nil if the gate
// ran no pair.
func Evidence(m *report.Model) *Plot {
	es := m.Evidence
	if len(es) == 0 {
		return nil
	}
	last := es[len(es)-1]
	what := "quality"
	if v := m.Verdict; v != nil && report.Deciding(v) > 0 {
		what = v.Route
	}
	p := &Plot{ID: "plot-evidence", Width: plotWidth, Height: 230, Title: "Evidence, request by request",
		Desc: fmt.Sprintf("That %s is better: %s after %s.", what, pareto.Chance(last.EValue), plain.Counted(last.Cases, "request"))}
	type series struct {
		class, name string
		of          func(report.Evidence) *float64
	}
	all := []series{{"curve", "better", func(e report.Evidence) *float64 { return &e.EValue }},
		{"curve worse", "worse", func(e report.Evidence) *float64 { return e.Worse }}}
	low, high := 1.0, 10.0
	for _, e := range es {
		for _, s := range all {
			if v := s.of(e); v != nil {
				low, high = min(low, max(*v, 1e-3)), max(high, min(*v, mostEvidence))
			}
		}
	}
	alpha := 0.0
	if m.Verdict != nil {
		alpha = m.Verdict.Alpha
	}
	if alpha > 0 {
		high = max(high, 2/alpha)
	}
	f := frame{x: axis{lo: 0, hi: max(float64(last.Cases), 1), from: 44, to: plotWidth - 8}, y: axis{lo: low, hi: high * 1.3, from: 194, to: 28, log: true},
		xTitle: "requests compared", yTitle: "luck alone comes this far 1 time in …", xTicks: 7, yTicks: 5, whole: true}
	p.frame(f)
	labels := &placer{bounds: box{f.x.from, f.y.to - 4, f.x.to, f.y.from}}
	rule := func(class, name string, level float64) {
		if !(level > 0) {
			return
		}
		y := f.y.at(1 / level)
		p.line(class, f.x.from, y, f.x.to, y)
		labels.along([]float64{f.x.from, y, f.x.to, y})
		// Above its line or, if that is taken, below.
		for _, dy := range []float64{-5, 14} {
			w := textWidth(name, fontSize)
			b := box{f.x.from + 4, y + dy - 10, f.x.from + 4 + w, y + dy + 3}
			if !labels.taken(b, false) && labels.bounds.holds(b) {
				labels.texts = append(labels.texts, b)
				p.text("rule-name", "start", b.x0, y+dy, name)
				return
			}
		}
	}
	rule("rule", pareto.Proves(alpha)+" decides", alpha)
	var lines [][]float64
	for _, s := range all {
		var xy []float64
		if s.name == "better" || shown(es, s.of) {
			if es[0].Cases == 1 { // evidence begins at 1
				xy = append(xy, f.x.at(0), f.y.at(1))
			}
			for _, e := range es {
				if v := s.of(e); v != nil {
					xy = append(xy, f.x.at(float64(e.Cases)), f.y.at(*v))
				}
			}
			p.path(s.class, polyline(xy...))
			labels.beside(xy)
		}
		lines = append(lines, xy)
	}
	for i, s := range all {
		if xy := lines[i]; len(xy) > 4 {
			n := len(xy)
			p.label(labels, "series"+strings.TrimPrefix(s.class, "curve"), s.name, xy[n-2]-2, xy[n-1], 2, true)
		}
	}
	if len(es) <= 60 {
		for _, e := range es {
			p.titled("dot", glyph(disc, f.x.at(float64(e.Cases)), f.y.at(e.EValue), 2.4), pairTitle(e))
		}
	}
	return p
}

// shown reports whether a series is drawn: an e-value that never left 1 is a
// line on the axis.
func shown(es []report.Evidence, of func(report.Evidence) *float64) bool {
	for _, e := range es {
		if v := of(e); v != nil && *v > 1.05 {
			return true
		}
	}
	return false
}

func pairTitle(e report.Evidence) string {
	q := "not measured"
	if e.Quality != nil && !math.IsNaN(*e.Quality) {
		q = fmt.Sprintf("%+.2f", *e.Quality)
	}
	return fmt.Sprintf("request %d: quality %s, %s", e.Cases, q, pareto.Chance(e.EValue))
}
