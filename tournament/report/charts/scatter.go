package charts

import (
	"fmt"
	"slices"
	"sort"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/report"
)

// A scatterPoint is one text: its cost and its quality.
type scatterPoint struct {
	label, class string
	shape        shape
	x, y         float64
	metrics      eval.Metrics
}

// A Scatter is quality against cost of the texts that a search tried.
type Scatter struct {
	*Plot
	Left int // candidates that were measured in part, and are not drawn
}

// ScatterOf draws the candidates that were measured on all validation cases, and
// no skill. nil if there are not two of them, or their cost is not known.
func ScatterOf(m *report.Model) *Scatter {
	out := &Scatter{}
	var ps []scatterPoint
	add := func(label, class string, s shape, of eval.Metrics) {
		ps = append(ps, scatterPoint{label: label, class: class, shape: s, metrics: of})
	}
	if m.Worth != nil {
		add("no skill", "no-skill", cross, m.Worth.Without)
	}
	for _, c := range m.Candidates {
		switch {
		case c.Metrics.N == 0:
		case !c.Full && c.Role == "":
			out.Left++
		case c.Role == "incumbent":
			add("your text", "incumbent", square, c.Metrics)
		case c.Role == "challenger":
			add("new text", "challenger", diamond, c.Metrics)
		case c.OnFront:
			add(plain.Head(c.SHA, 6), "on-front", disc, c.Metrics)
		default:
			add(plain.Head(c.SHA, 6), "point-open", ring, c.Metrics)
		}
	}
	unit := costs(ps)
	if len(ps) < 2 || unit == "" {
		return nil
	}
	// The roles are drawn last, above the crowd, and named first.
	order := []string{"challenger", "incumbent", "no-skill", "on-front", "point-open"}
	sort.SliceStable(ps, func(i, j int) bool { return slices.Index(order, ps[i].class) > slices.Index(order, ps[j].class) })
	out.Plot = scatter(ps, unit)
	return out
}

// costs sets what a request costs with each text, and returns the unit, "" if it is not
// known of all.
func costs(ps []scatterPoint) string {
	most := 0.0
	all := func(of func(*eval.Metrics) *float64) bool {
		most = 0
		for i := range ps {
			v := of(&ps[i].metrics)
			if v == nil {
				return false
			}
			ps[i].x, ps[i].y = *v, ps[i].metrics.Quality
			most = max(most, *v)
		}
		return true
	}
	switch {
	case all(func(m *eval.Metrics) *float64 { return m.CostUSD }):
		if most >= 0.1 {
			return "$"
		}
		for i := range ps {
			ps[i].x *= 100
		}
		return "US cents"
	case all(func(m *eval.Metrics) *float64 { return m.Tokens }):
		return "tokens"
	}
	return ""
}

func scatter(ps []scatterPoint, unit string) *Plot {
	p := &Plot{ID: "plot-scatter", Width: plotWidth, Height: 250, Title: "Quality against cost"}
	var xs, ys []float64
	for _, pt := range ps {
		xs, ys = append(xs, pt.x), append(ys, pt.y)
	}
	f := frame{x: spanning(xs, 48, plotWidth-10), y: spanning(ys, 200, 24), xTitle: "cost of a request, " + unit + " (left is better)",
		yTitle: "quality, 0 to 1 (up is better)", xTicks: 6, yTicks: 5}
	p.frame(f)
	labels := &placer{bounds: box{f.x.from + 2, f.y.to + 1, f.x.to, f.y.from - 2}}
	for _, pt := range ps {
		labels.mark(f.x.at(pt.x), f.y.at(pt.y), 5)
	}
	for _, pt := range ps {
		r := 4.2
		if pt.shape == ring {
			r = 3
		}
		p.titled(pt.class, glyph(pt.shape, f.x.at(pt.x), f.y.at(pt.y), r), fmt.Sprintf("%s: quality %.2f, %.3g %s", pt.label, pt.y, pt.x, unit))
	}
	for _, pt := range slices.Backward(ps) {
		if pt.class == "point-open" || pt.class == "on-front" && len(ps) > 12 {
			continue
		}
		p.label(labels, "name "+pt.class+"-name", pt.label, f.x.at(pt.x), f.y.at(pt.y), 5, pt.class != "on-front")
		if pt.class != "on-front" {
			p.Desc += fmt.Sprintf("%s: quality %.2f, %.3g %s. ", pt.label, pt.y, pt.x, unit)
		}
	}
	p.Desc += fmt.Sprintf("%d texts in all.", len(ps))
	return p
}

// LeftOut reports how many candidates a scatter leaves out, "" for none.
func (s *Scatter) LeftOut() string {
	switch s.Left {
	case 0:
		return ""
	case 1:
		return "One text was tried on some of the requests only, and is not drawn."
	}
	return fmt.Sprintf("%d texts were tried on some of the requests only, and are not drawn.", s.Left)
}
