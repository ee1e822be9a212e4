package charts

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/report"
)

// An objective is one axis of the scatter matrix.
type objective struct {
	name   string
	unit   string // "" for none
	better float64
	of     func(eval.Metrics) *float64
	eps    float64
	values []float64 // of the points, in their order
}

func (o *objective) title() string {
	if o.unit == "" {
		return o.name
	}
	return o.name + ", " + o.unit
}

// A scatterPoint is one text among the points.
type scatterPoint struct {
	label, class string
	shape        shape
	front        bool
	metrics      eval.Metrics
}

// A Scatter is the matrix of the objectives, two at a time: the trade-offs of
// the run's candidates.
type Scatter struct {
	Panels  []Panel
	Points  int
	Left    int      // candidates that were measured in part, and are not drawn
	Unknown []string // objectives that are not known of all points
	Epsilon []string // in words, by objective; none if noise was not measured
	NoSkill int      // validation cases that the no-skill arm was tried on; 0 for none
}

// A Panel is one plot of the matrix, at its place from 1.
type Panel struct {
	*Plot
	Row, Column int
}

// ScatterOf draws the candidates that were measured on all validation cases, and
// no skill. nil if there are not two of them.
func ScatterOf(m *report.Model) *Scatter {
	out := &Scatter{}
	var ps []scatterPoint
	for _, c := range m.Candidates {
		switch {
		case c.Metrics.N == 0:
		case !c.Full && c.Role == "":
			out.Left++
		case c.Role == "incumbent":
			ps = append(ps, scatterPoint{"incumbent", "incumbent", square, c.OnFront, c.Metrics})
		case c.Role == "challenger":
			ps = append(ps, scatterPoint{"challenger", "challenger", diamond, c.OnFront, c.Metrics})
		case c.OnFront:
			ps = append(ps, scatterPoint{plain.Head(c.SHA, 6), "on-front", disc, true, c.Metrics})
		default:
			ps = append(ps, scatterPoint{plain.Head(c.SHA, 6), "point-open", ring, false, c.Metrics})
		}
	}
	if m.Worth != nil {
		ps = append(ps, scatterPoint{"no skill", "no-skill", cross, false, m.Worth.Without})
		out.NoSkill = m.Worth.Without.N
	}
	if out.Points = len(ps); len(ps) < 2 {
		return nil
	}
	// The roles are drawn last, above the crowd, and named first.
	sort.SliceStable(ps, func(i, j int) bool { return rankOf(ps[i]) > rankOf(ps[j]) })
	os := out.objectives(m, ps)
	for r := range os {
		for c := r + 1; c < len(os); c++ {
			out.Panels = append(out.Panels, Panel{panel(fmt.Sprintf("plot-scatter-%d", len(out.Panels)+1), &os[c], &os[r], ps), r + 1, c})
		}
	}
	return out
}

func rankOf(p scatterPoint) int {
	return slices.Index([]string{"challenger", "incumbent", "no-skill", "on-front", "point-open"}, p.class)
}

// objectives are those that every point knows, with their noise.
func (s *Scatter) objectives(m *report.Model, ps []scatterPoint) []objective {
	known := func(of func(eval.Metrics) *float64) (vs []float64) {
		for _, p := range ps {
			v := of(p.metrics)
			if v == nil {
				return nil
			}
			vs = append(vs, *v)
		}
		return vs
	}
	usd := func(x eval.Metrics) *float64 { return x.CostUSD }
	priced := known(usd) != nil
	var eps [4]float64
	if m.Noise != nil {
		eps = m.Noise.Epsilon(priced)
	}
	all := []objective{
		{name: "quality", better: 1, of: func(x eval.Metrics) *float64 { return &x.Quality }, eps: eps[0]},
		{name: "latency", unit: "s", better: -1, of: scaled(func(x eval.Metrics) *float64 { return x.LatencyMS }, 1e-3), eps: eps[1] * 1e-3},
		{name: "cost", unit: "tokens", better: -1, of: func(x eval.Metrics) *float64 { return x.Tokens }, eps: eps[2]},
		{name: "retries", better: -1, of: func(x eval.Metrics) *float64 { return &x.Retries }, eps: eps[3]},
	}
	if priced {
		all[2].unit, all[2].of = "$", usd
		if slices.Max(known(usd)) < 0.1 {
			all[2].unit, all[2].of, all[2].eps = "US cents", scaled(usd, 100), eps[2]*100
		}
	}
	var out []objective
	for _, o := range all {
		if o.values = known(o.of); o.values == nil {
			s.Unknown = append(s.Unknown, o.name)
			continue
		}
		if m.Noise != nil {
			s.Epsilon = append(s.Epsilon, strings.TrimSpace(fmt.Sprintf("%s ±%.2g %s", o.name, o.eps, o.unit)))
		}
		out = append(out, o)
	}
	return out
}

func scaled(of func(eval.Metrics) *float64, by float64) func(eval.Metrics) *float64 {
	return func(x eval.Metrics) *float64 {
		v := of(x)
		if v == nil {
			return nil
		}
		y := *v * by
		return &y
	}
}

// panel plots two objectives against each other.
func panel(id string, ox, oy *objective, ps []scatterPoint) *Plot {
	p := &Plot{ID: id, Width: 360, Height: 250, Title: fmt.Sprintf("%s against %s", oy.name, ox.name)}
	f := frame{x: spanning(ox.values, 48, 350), y: spanning(oy.values, 200, 24), xTitle: ox.title() + direction(ox, "→", "←"),
		yTitle: oy.title() + direction(oy, "↑", "↓"), xTicks: 6, yTicks: 5}
	// The front's step is drawn in the room that the axes leave.
	p.frame(f)
	line := p.front(f, ox, oy, ps)
	labels := &placer{bounds: box{f.x.from + 2, f.y.to + 1, f.x.to, f.y.from - 2}}
	labels.along(line)
	for i := range ps {
		labels.mark(f.x.at(ox.values[i]), f.y.at(oy.values[i]), 5)
	}
	for i, pt := range ps {
		title := fmt.Sprintf("%s: %s %.3g, %s %.3g", pt.label, ox.title(), ox.values[i], oy.title(), oy.values[i])
		r := 4.2
		if pt.shape == ring {
			r = 3
		}
		p.titled(pt.class, glyph(pt.shape, f.x.at(ox.values[i]), f.y.at(oy.values[i]), r), title)
	}
	named := 0
	for i := len(ps) - 1; i >= 0; i-- {
		pt := ps[i]
		if pt.class == "point-open" || pt.class == "on-front" && (named >= 8 || len(ps) > 40) {
			continue
		}
		if p.label(labels, "name "+pt.class+"-name", pt.label, f.x.at(ox.values[i]), f.y.at(oy.values[i]), 5, pt.class != "on-front") {
			named++
			if pt.class != "on-front" {
				p.Desc += fmt.Sprintf("%s: %s %.3g, %s %.3g. ", pt.label, ox.title(), ox.values[i], oy.title(), oy.values[i])
			}
		}
	}
	p.Desc += fmt.Sprintf("%d texts in all.", len(ps))
	return p
}

func direction(o *objective, up, down string) string {
	if o.better > 0 {
		return " " + up + " better"
	}
	return " " + down + " better"
}

// front draws the front of these two objectives as steps, and the band of ε
// below it: texts within it do not differ from the front by more than noise.
// It returns the line's points.
func (p *Plot) front(f frame, ox, oy *objective, ps []scatterPoint) []float64 {
	type xy struct{ x, y float64 }
	var pts []xy
	for i, pt := range ps {
		if pt.class != "no-skill" { // measured on fewer cases
			pts = append(pts, xy{ox.values[i] * ox.better, oy.values[i] * oy.better})
		}
	}
	// Larger is better now, in both. From the best x on, those with a better y.
	sort.Slice(pts, func(i, j int) bool {
		if pts[i].x != pts[j].x {
			return pts[i].x > pts[j].x
		}
		return pts[i].y > pts[j].y
	})
	var on []xy
	for _, q := range pts {
		if len(on) == 0 || q.y > on[len(on)-1].y {
			on = append(on, q)
		}
	}
	if len(on) == 0 {
		return nil
	}
	at := func(x, y float64) (float64, float64) { return f.x.at(x * ox.better), f.y.at(y * oy.better) }
	worstX, worstY := f.x.lo, f.y.lo
	if ox.better < 0 {
		worstX = -f.x.hi
	}
	if oy.better < 0 {
		worstY = -f.y.hi
	}
	stairs := func(dx, dy float64) (out []float64) {
		add := func(x, y float64) {
			a, b := at(x, y)
			out = append(out, a, b)
		}
		add(on[0].x-dx, worstY)
		for i, q := range on {
			if i > 0 {
				add(q.x-dx, on[i-1].y-dy)
			}
			add(q.x-dx, q.y-dy)
		}
		add(worstX, on[len(on)-1].y-dy)
		return out
	}
	outer := stairs(0, 0)
	if ox.eps > 1e-9 || oy.eps > 1e-9 {
		inner := stairs(ox.eps, oy.eps)
		band := slices.Clone(outer)
		for i := len(inner) - 2; i >= 0; i -= 2 {
			band = append(band, inner[i], inner[i+1])
		}
		p.path("band", polyline(band...)+"Z")
	}
	p.path("front", polyline(outer...))
	return outer
}

// LeftOut reports how many candidates a matrix leaves out.
func (s *Scatter) LeftOut() string {
	if s.Left == 1 {
		return "One candidate was measured on a part of the cases, and is not drawn."
	}
	return fmt.Sprintf("%d candidates were measured on a part of the cases, and are not drawn.", s.Left)
}
