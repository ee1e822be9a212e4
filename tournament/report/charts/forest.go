package charts

import (
	"fmt"

	"github.com/skill-evolve/evolve/tournament/report"
)

// A ForestRow is one paired difference in the unit of a pareto.Pair: positive
// is better for the right side, at most 1.
type ForestRow struct {
	Name           string
	Low, Mid, High float64
	Tolerance      float64 // how much worse is accepted, negative; 0 for none
	Bound          string  // it, in words
	Change         string  // Mid, in words
	Differs        bool
	Title          string
}

// Forest draws differences with their intervals, 0 being "no difference". nil
// for no rows.
func Forest(left, right string, rows []ForestRow) *Plot {
	if len(rows) == 0 {
		return nil
	}
	const pitch, top = 42.0, 38.0
	bottom := top + pitch*float64(len(rows))
	p := &Plot{ID: "plot-forest", Width: plotWidth, Height: bottom + 20, Title: "Differences with their intervals"}
	x := axis{lo: -1, hi: 1, from: 68, to: plotWidth - 56}
	for _, v := range []float64{-1, 0, 1} {
		class := "grid"
		if v == 0 {
			class = "axis"
		}
		p.line(class, x.at(v), top-6, x.at(v), bottom)
	}
	p.text("tick", "middle", x.at(0), bottom+15, "no difference")
	p.text("axis-title", "end", x.at(0)-8, top-14, cut("← "+left+" better", 130, fontSize))
	p.text("axis-title", "start", x.at(0)+8, top-14, cut(right+" better →", 130, fontSize))
	for i, r := range rows {
		y := top + pitch*(float64(i)+0.3)
		class, sh := "interval", ring
		if r.Differs {
			class, sh = "interval differs", disc
		}
		if r.Tolerance < 0 {
			t := x.at(r.Tolerance)
			p.line("rule tolerance", t, y-8, t, y+19)
			p.text("tick", "end", t-4, y+18, cut(r.Bound, t-4, fontSize))
		}
		lo, hi := x.at(r.Low), x.at(r.High)
		p.titled(class, polyline(lo, y, hi, y)+polyline(lo, y-4, lo, y+4)+polyline(hi, y-4, hi, y+4), r.Title)
		p.titled(class+" mean", glyph(sh, x.at(r.Mid), y, 4), r.Title)
		p.text("tick", "start", 2, y-6, r.Name)
		p.text("tick", "end", p.Width-2, y+4, r.Change)
		p.Desc += r.Title + ". "
	}
	return p
}

// Deltas draws a comparison's deltas; nil if no objective was measured.
func Deltas(c *report.Comparison) *Plot {
	var rows []ForestRow
	for i := range c.Objectives {
		d := &c.Objectives[i]
		if d.Delta == nil {
			continue
		}
		a, b := d.Oriented(*d.Low), d.Oriented(*d.High)
		rows = append(rows, ForestRow{Name: d.Objective, Low: min(a, b), Mid: d.Oriented(*d.Delta), High: max(a, b), Differs: d.Differs, Change: d.Change(),
			Title: fmt.Sprintf("%s: %s, %s", d.Objective, d.Change(), d.Interval())})
	}
	return Forest("A", "B", rows)
}
