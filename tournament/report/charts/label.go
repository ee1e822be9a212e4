package charts

import "math"

// A box is an upright rectangle, y downwards.
type box struct{ x0, y0, x1, y1 float64 }

func (b box) meets(c box) bool { return b.x0 < c.x1 && c.x0 < b.x1 && b.y0 < c.y1 && c.y0 < b.y1 }

func (b box) holds(c box) bool { return b.x0 <= c.x0 && c.x1 <= b.x1 && b.y0 <= c.y0 && c.y1 <= b.y1 }

// A placer puts labels beside their marks so that no two overlap: each in turn
// takes the first free place around its mark, the nearest first. Labels that are
// placed first have the first choice.
type placer struct {
	bounds box
	texts  []box // labels: never covered
	marks  []box // avoided as long as there is another place
}

// around are the directions in which a label is tried: right, left, above,
// below, and between.
var around = [...][2]float64{{1, 0}, {-1, 0}, {0, -1}, {0, 1}, {1, -1}, {-1, -1}, {1, 1}, {-1, 1}}

// reach are the distances from the mark that are tried, in units.
var reach = [...]float64{0, 6, 14, 24, 36, 50, 66}

// place finds room for s at a mark of radius r, and returns the start of the
// text on its baseline; leader means that it is too far away to be taken for
// the mark's without a line. ok is false if there is no room. Unless must is
// set, it takes no place that is far off or covers a mark.
func (l *placer) place(s string, size, x, y, r float64, must bool) (tx, ty float64, leader, ok bool) {
	w, h := textWidth(s, size), size*1.25
	for _, strict := range []bool{true, false} {
		for _, far := range reach {
			if !must && (!strict || far > 6) {
				return 0, 0, false, false
			}
			for _, d := range around {
				b := beside(x, y, r+3+far, d, w, h)
				if !l.bounds.holds(b) || l.taken(b, strict) {
					continue
				}
				l.texts = append(l.texts, b)
				return b.x0, b.y1 - 0.28*h, far > 6, true
			}
		}
	}
	return 0, 0, false, false
}

// beside is the box of a label of w × h that begins gap from a point.
func beside(x, y, gap float64, d [2]float64, w, h float64) box {
	cx, cy := x+d[0]*(gap+w/2), y+d[1]*(gap+h/2)
	if d[0] != 0 && d[1] != 0 { // at a corner
		cx, cy = x+d[0]*(gap*math.Sqrt2/2+w/2), y+d[1]*(gap*math.Sqrt2/2+h/2)
	}
	return box{cx - w/2, cy - h/2, cx + w/2, cy + h/2}
}

func (l *placer) taken(b box, strict bool) bool {
	for _, t := range l.texts {
		if b.meets(t) {
			return true
		}
	}
	if strict {
		for _, m := range l.marks {
			if b.meets(m) {
				return true
			}
		}
	}
	return false
}

// mark keeps labels off a mark.
func (l *placer) mark(x, y, r float64) { l.marks = append(l.marks, box{x - r, y - r, x + r, y + r}) }

// along keeps labels off a line of upright and level pieces.
func (l *placer) along(xy []float64) {
	for i := 0; i+3 < len(xy); i += 2 {
		l.marks = append(l.marks, box{min(xy[i], xy[i+2]) - 1, min(xy[i+1], xy[i+3]) - 1, max(xy[i], xy[i+2]) + 1, max(xy[i+1], xy[i+3]) + 1})
	}
}

// beside keeps labels off a line of slanting pieces.
func (l *placer) beside(xy []float64) {
	const step = 4.0
	for i := 0; i+3 < len(xy); i += 2 {
		dx, dy := xy[i+2]-xy[i], xy[i+3]-xy[i+1]
		n := math.Ceil(math.Hypot(dx, dy) / step)
		for k := 0.0; k <= n; k++ {
			t := k / max(n, 1)
			l.mark(xy[i]+t*dx, xy[i+1]+t*dy, 2)
		}
	}
}

// label places s and draws it, with a line to its mark if it is far off. It
// reports whether there was room.
func (p *Plot) label(l *placer, class, s string, x, y, r float64, must bool) bool {
	tx, ty, leader, ok := l.place(s, fontSize, x, y, r, must)
	if !ok {
		return false
	}
	if leader {
		w, mid := textWidth(s, fontSize), ty-fontSize*0.35
		p.line("leader", x, y, min(max(x, tx), tx+w), mid+math.Copysign(min(math.Abs(y-mid), fontSize*0.6), y-mid))
	}
	p.text(class, "start", tx, ty, s)
	return true
}
