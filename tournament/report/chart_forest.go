package report

import (
	"fmt"
	"math"
)

// A forestRow is one paired difference in the unit of a pareto.Pair: positive is
// better for the right side, at most 1.
type forestRow struct {
	name           string
	low, mid, high float64
	tolerance      float64 // how much worse is borne, negative; 0 for none
	differs        bool
	title          string
}

// forest draws differences with their intervals, 0 being "no difference". nil
// for no rows.
func forest(left, right string, rows []forestRow) *Plot {
	if len(rows) == 0 {
		return nil
	}
	const pitch, top = 32.0, 40.0
	bottom := top + pitch*float64(len(rows))
	p := &Plot{ID: "plot-forest", Width: plotWidth, Height: bottom + 38, Title: "Paired differences with their intervals"}
	x := axis{lo: -1, hi: 1, from: 70, to: plotWidth - 14}
	for _, v := range []float64{-1, -0.5, 0, 0.5, 1} {
		class, s := "grid", fmt.Sprintf("%+g", v)
		if v == 0 {
			class, s = "axis", "0"
		}
		p.line(class, x.at(v), top-6, x.at(v), bottom)
		p.text("tick", "middle", x.at(v), bottom+15, s)
	}
	p.text("axis-title", "end", x.at(0)-8, top-14, cut("← "+left+" better", 130, fontSize))
	p.text("axis-title", "start", x.at(0)+8, top-14, cut(right+" better →", 130, fontSize))
	p.text("axis-title", "end", x.to, bottom+31, "points; of latency and cost, log₄ of the ratio")
	for i, r := range rows {
		y := top + pitch*(float64(i)+0.5)
		class, sh := "interval", ring
		if r.differs {
			class, sh = "interval differs", disc
		}
		if r.tolerance < 0 {
			t := x.at(r.tolerance)
			p.line("rule futile", t, y-pitch*0.35, t, y+pitch*0.35)
		}
		lo, hi := x.at(r.low), x.at(r.high)
		p.titled(class, polyline(lo, y, hi, y)+polyline(lo, y-4, lo, y+4)+polyline(hi, y-4, hi, y+4), r.title)
		p.titled(class+" mean", glyph(sh, x.at(r.mid), y, 4), r.title)
		p.text("tick", "end", x.from-10, y+4, r.name)
		p.Desc += r.title + ". "
	}
	return p
}

// forestChart draws a comparison's deltas; nil where no objective was measured.
func forestChart(c *Comparison) *Plot {
	var rows []forestRow
	for i := range c.Objectives {
		d := &c.Objectives[i]
		if d.Delta == nil {
			continue
		}
		a, b := d.oriented(*d.Low), d.oriented(*d.High)
		rows = append(rows, forestRow{d.Objective, min(a, b), d.oriented(*d.Delta), max(a, b), 0, d.Differs,
			fmt.Sprintf("%s: %s, %s", d.Objective, d.change(), d.interval())})
	}
	return forest("A", "B", rows)
}

// oriented turns a delta back into a pair's difference.
func (d *Delta) oriented(x float64) float64 {
	switch {
	case d.Unit == "ratio" && !(x > 0):
		return 0
	case d.Unit == "ratio":
		x = -math.Log(x) / math.Log(4)
	case d.Objective == "retries":
		x = -x // beyond 1 it is drawn at the edge
	}
	return min(max(x, -1), 1)
}
