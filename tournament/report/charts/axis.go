package charts

import (
	"fmt"
	"math"
	"strconv"
)

// An axis maps values from lo to hi to the drawing's units from and to.
type axis struct {
	lo, hi, from, to float64
	log              bool
}

// at is the position of a value, within the ends of the axis.
func (a axis) at(v float64) float64 {
	lo, hi := a.lo, a.hi
	if a.log {
		lo, hi, v = math.Log10(lo), math.Log10(hi), math.Log10(max(v, a.lo))
	}
	v = min(max(v, lo), hi)
	return a.from + (v-lo)/(hi-lo)*(a.to-a.from)
}

// spanning is an axis that holds all values with some margin, and a larger
// one if they are (almost) the same.
func spanning(values []float64, from, to float64) axis {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	if len(values) == 0 {
		lo, hi = 0, 1
	}
	pad := 0.08 * (hi - lo)
	if least := 0.02 * max(math.Abs(hi), math.Abs(lo), 1e-9); pad < least {
		pad = least
	}
	return axis{lo: lo - pad, hi: hi + pad, from: from, to: to}
}

// ticks are the round values (1, 2 or 5 times a power of ten) within the
// axis, at most n and at least one: for a very short axis, its middle.
func (a axis) ticks(n int) []float64 {
	if a.log {
		return a.decades(n)
	}
	step := math.Pow(10, math.Floor(math.Log10((a.hi-a.lo)/float64(n))))
	for i := 0; i < 12; i++ {
		if out := multiples(a.lo, a.hi, step); len(out) <= n {
			return out
		}
		step *= []float64{2, 2.5, 2}[i%3]
	}
	return []float64{(a.lo + a.hi) / 2}
}

func multiples(lo, hi, step float64) (out []float64) {
	const slack = 1e-9
	for k := math.Ceil(lo/step - slack); k <= math.Floor(hi/step+slack); k++ {
		out = append(out, k*step)
		if len(out) > 1000 {
			break
		}
	}
	return out
}

// decades are the powers of ten of a logarithmic axis and, if they are few,
// their double and fivefold.
func (a axis) decades(n int) (out []float64) {
	lo, hi := math.Floor(math.Log10(a.lo)), math.Ceil(math.Log10(a.hi))
	steps := []float64{1}
	if hi-lo <= 2 {
		steps = []float64{1, 2, 5}
	}
	every := max(1, math.Ceil((hi-lo)/float64(n)))
	for e := lo; e <= hi; e += every {
		for _, s := range steps {
			if v := s * math.Pow(10, e); v >= a.lo*(1-1e-9) && v <= a.hi*(1+1e-9) {
				out = append(out, v)
			}
		}
	}
	return out
}

// tickTexts formats ticks with as many digits as distinguish them.
func tickTexts(ticks []float64) []string {
	out := make([]string, len(ticks))
	digits := 0
	if len(ticks) > 1 {
		digits = int(max(0, -math.Floor(math.Log10(ticks[1]-ticks[0])+1e-9)))
	}
	if len(ticks) > 1 && ticks[len(ticks)-1] >= 10_000 && ticks[1]-ticks[0] >= 1000 {
		for i, v := range ticks {
			out[i] = strconv.FormatFloat(v/1000, 'f', -1, 64) + "k"
			if v == 0 {
				out[i] = "0"
			}
		}
		return out
	}
	for i, v := range ticks {
		out[i] = strconv.FormatFloat(v, 'f', min(digits, 9), 64)
		if v == 0 || out[i] == "-0" {
			out[i] = "0"
		}
	}
	return out
}

// power formats a tick of a logarithmic axis.
func power(v float64) string {
	switch {
	case v >= 1e5:
		return fmt.Sprintf("1e%d", int(math.Round(math.Log10(v))))
	case v >= 1000:
		return fmt.Sprintf("%.0f,%03.0f", math.Floor(v/1000), math.Mod(v, 1000))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// A frame is the plot's area with its axes: grid lines, ticks, and both titles
// written horizontally, the y axis' above it.
type frame struct {
	x, y           axis
	xTitle, yTitle string
	xTicks, yTicks int     // at most
	whole          bool    // x counts something: no ticks between whole numbers
	drop           float64 // room between the x axis and its numbers
}

// frame paints the frame under what is painted later. left is the end of the
// y ticks; the x title is below its ticks.
func (p *Plot) frame(f frame) {
	left, right, top, bottom := f.x.from, f.x.to, f.y.to, f.y.from
	yt := f.y.ticks(f.yTicks)
	texts := tickTexts(yt)
	for i, v := range yt {
		y := f.y.at(v)
		p.line("grid", left, y, right, y)
		if f.y.log {
			texts[i] = power(v)
		}
		p.text("tick", "end", left-5, y+4, texts[i])
	}
	xt := f.x.ticks(f.xTicks)
	if f.whole && len(xt) > 1 && xt[1]-xt[0] < 1 {
		xt = multiples(f.x.lo, f.x.hi, 1)
	}
	p.line("axis", left, bottom, right, bottom)
	for i, s := range tickTexts(xt) {
		x := f.x.at(xt[i])
		p.line("axis", x, bottom, x, bottom+4)
		p.text("tick", anchorWithin(x, textWidth(s, fontSize), p.Width), x, bottom+16+f.drop, s)
	}
	p.text("axis-title", "end", right, bottom+31+f.drop, f.xTitle)
	p.text("axis-title", "start", 2, top-9, f.yTitle)
}

// anchorWithin keeps a centred text inside the drawing.
func anchorWithin(x, w, width float64) string {
	if x+w/2 > width {
		return "end"
	}
	return "middle"
}
