package report

import (
	"fmt"
	"math"
	"strings"
)

// The plot's area inside the drawing, in the drawing's units. It is small, so
// that its text is as large as the page's on a telephone.
const (
	chartWidth, chartHeight = 360, 190
	chartLeft, chartRight   = 42, 350
	chartTop, chartBottom   = 12, 152
)

// A Chart is a line in inline SVG: nothing but numbers and our own words.
type Chart struct {
	Width, Height, Left, Right, Top, Bottom int
	Line                                    string // points of a polyline
	XTicks, YTicks                          []Tick
	X, Y                                    string // axis titles
	Rule                                    *Tick  // a horizontal line to reach
	Label                                   string // for those who cannot see it
}

// A Tick is a place on an axis. At is in the drawing's units.
type Tick struct {
	At   string
	Text string
}

func newChart(x, y, label string) *Chart {
	return &Chart{Width: chartWidth, Height: chartHeight, Left: chartLeft, Right: chartRight, Top: chartTop, Bottom: chartBottom, X: x, Y: y, Label: label}
}

// qualityChart draws the best validation quality against the rollouts spent, as
// steps. nil where there is nothing to draw.
func qualityChart(steps []Step) *Chart {
	var xs, ys []float64
	for _, s := range steps {
		if s.Best != nil && !strings.HasPrefix(s.Kind, "gate") && s.Kind != "verdict" {
			xs, ys = append(xs, float64(s.Rollouts)), append(ys, *s.Best)
		}
	}
	if len(xs) == 0 {
		return nil
	}
	c := newChart("rollouts", "best validation quality", fmt.Sprintf("Best validation quality: %.2f after %.0f rollouts, %.2f after %.0f.",
		ys[0], xs[0], ys[len(ys)-1], xs[len(xs)-1]))
	right := max(xs[len(xs)-1], 1)
	x, y := scale(0, right, chartLeft, chartRight), scale(0, 1, chartBottom, chartTop)
	var points []string
	for i := range xs {
		if i > 0 {
			points = append(points, at(x(xs[i]), y(ys[i-1])))
		}
		points = append(points, at(x(xs[i]), y(ys[i])))
	}
	c.Line = strings.Join(points, " ")
	for _, v := range ticks(right) {
		c.XTicks = append(c.XTicks, Tick{num(x(v)), fmt.Sprintf("%.0f", v)})
	}
	for _, v := range []float64{0, 0.25, 0.5, 0.75, 1} {
		c.YTicks = append(c.YTicks, Tick{num(y(v)), fmt.Sprintf("%.2f", v)})
	}
	return c
}

// evidenceChart draws the e-value after each pair on a logarithmic axis, with
// the line that proves. nil where the gate ran no pair.
func evidenceChart(es []Evidence, alpha float64) *Chart {
	if len(es) == 0 {
		return nil
	}
	last := es[len(es)-1]
	c := newChart("held-out clusters", "e-value", fmt.Sprintf("E-value after %d clusters: %.3g.", last.Cases, last.EValue))
	log := func(e float64) float64 { return math.Log10(min(max(e, 1e-3), 1e12)) }
	low, high := 0.0, 1.0
	for _, e := range es {
		low, high = min(low, math.Floor(log(e.EValue))), max(high, math.Ceil(log(e.EValue)))
	}
	if alpha > 0 {
		high = max(high, math.Ceil(log(1/alpha)))
	}
	right := max(float64(last.Cases), 1)
	x, y := scale(0, right, chartLeft, chartRight), scale(low, high, chartBottom, chartTop)
	var points []string
	if es[0].Cases == 1 { // evidence begins at 1
		points = append(points, at(x(0), y(0)))
	}
	for _, e := range es {
		points = append(points, at(x(float64(e.Cases)), y(log(e.EValue))))
	}
	c.Line = strings.Join(points, " ")
	for _, v := range ticks(right) {
		c.XTicks = append(c.XTicks, Tick{num(x(v)), fmt.Sprintf("%.0f", v)})
	}
	every := max(1, math.Ceil((high-low)/5))
	for v := low; v <= high; v += every {
		c.YTicks = append(c.YTicks, Tick{num(y(v)), fmt.Sprintf("%g", math.Pow(10, v))})
	}
	if alpha > 0 {
		c.Rule = &Tick{num(y(log(1 / alpha))), fmt.Sprintf("proof at %.0f", 1/alpha)}
	}
	return c
}

// scale maps [a, b] to [from, to].
func scale(a, b, from, to float64) func(float64) float64 {
	return func(v float64) float64 { return from + (v-a)/(b-a)*(to-from) }
}

// ticks are at most six round whole numbers from 0 to at most high.
func ticks(high float64) []float64 {
	step := 1.0
	for i := 0; high/step > 5; i++ {
		step *= []float64{2, 2.5, 2}[i%3] // 1, 2, 5, 10, 20, …
	}
	var out []float64
	for v := 0.0; v <= high; v += step {
		out = append(out, v)
	}
	return out
}

func at(x, y float64) string { return num(x) + "," + num(y) }

func num(v float64) string { return fmt.Sprintf("%.1f", v) }
