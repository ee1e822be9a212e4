package charts

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/report"
)

// A Role is a text that a map marks.
type Role struct{ SHA, Name, Short string }

// HeatLevels is how many shades of quality the map has, 0 and 1 among them.
const HeatLevels = 5

// Heat draws the matrix as a map: a row a candidate, a column a case, the
// cases in the order of their numbers. Neighbours of one shade are one
// stroke, so that two hundred candidates on a thousand cases are a few paths
// instead of two hundred thousand elements. nil if there is nothing to draw.
func Heat(m report.Matrix, roles [2]Role) *Plot {
	rows, cols := len(m.Candidates), len(m.Rows)
	if rows == 0 || cols == 0 {
		return nil
	}
	pitch := min(18, max(3, math.Floor(600/float64(rows)))) // of a row
	named := pitch >= 13
	left, top := 112.0, 34.0
	if !named {
		left = 60
	}
	width := max(1, min(14, math.Floor((1140-left)/float64(cols)*2)/2)) // of a column
	p := &Plot{ID: "plot-heat", Width: max(340, left+width*float64(cols)+6), Height: top + pitch*float64(rows) + 34, Title: "Quality of each candidate on each case",
		Desc: fmt.Sprintf("%s by %s; the darker the better, blank was not tried. The tables of candidates and of cases say the same in numbers.",
			plain.Counted(rows, "candidate"), plain.Counted(cols, "case"))}
	right, bottom := left+width*float64(cols), top+pitch*float64(rows)
	p.path("heat-back", rect(left, top, right, bottom))
	for level, d := range heatPaths(m, left, top, width, pitch) {
		if d != "" {
			p.Paths = append(p.Paths, Path{Class: fmt.Sprintf("heat h%d", level), D: d, Stroke: num(pitch - min(2, math.Floor(pitch/4)))})
		}
	}
	p.splits(m.Rows, left, top, bottom, width)
	for i, sha := range m.Candidates {
		y := top + pitch*(float64(i)+0.5)
		switch {
		case sha == roles[0].SHA:
			p.heatRow("incumbent", square, roles[0], left, right, y, pitch)
		case sha == roles[1].SHA:
			p.heatRow("challenger", diamond, roles[1], left, right, y, pitch)
		case named:
			p.text("tick", "end", left-16, y+4, plain.Head(sha, 8))
		}
	}
	x := axis{lo: 0.5, hi: float64(cols) + 0.5, from: left, to: right}
	last := math.Inf(-1)
	for _, v := range x.ticks(12) {
		if v < 1 || v != math.Trunc(v) {
			continue
		}
		s := fmt.Sprintf("%.0f", v)
		if c := x.at(v); c-textWidth(s, fontSize) > last {
			p.line("axis", c, bottom+1, c, bottom+5)
			p.text("tick", anchorWithin(c, textWidth(s, fontSize), p.Width), c, bottom+17, s)
			last = c
		}
	}
	p.text("axis-title", "start", left, bottom+31, "number of the request")
	return p
}

// heatRow marks one candidate's row.
func (p *Plot) heatRow(class string, s shape, r Role, left, right, y, pitch float64) {
	name := cut(r.Name, left-18, fontSize)
	p.path(class, glyph(s, left-8, y, 4))
	if pitch < 13 { // in a crowd it is framed, too
		p.path("heat-frame", rect(left, y-pitch/2, right, y+pitch/2))
		name = r.Short
	}
	p.text("tick", "end", left-16, y+4, name)
}

// heatPaths are the strokes of each level.
func heatPaths(m report.Matrix, left, top, width, pitch float64) [HeatLevels]string {
	var b [HeatLevels]strings.Builder
	for i := range m.Candidates {
		y := num(top + pitch*(float64(i)+0.5))
		for from := 0; from < len(m.Rows); {
			l := heatLevel(m.Rows[from].Cells[i])
			to := from + 1
			for to < len(m.Rows) && heatLevel(m.Rows[to].Cells[i]) == l {
				to++
			}
			if l >= 0 {
				w := &b[l]
				w.WriteByte('M')
				w.WriteString(num(left + width*float64(from)))
				w.WriteByte(' ')
				w.WriteString(y)
				w.WriteByte('h')
				w.WriteString(num(width * float64(to-from)))
			}
			from = to
		}
	}
	var out [HeatLevels]string
	for i := range b {
		out[i] = b[i].String()
	}
	return out
}

// heatLevel is the shade of a quality, -1 for one that was not measured. Only
// a wholly solved case has the last, and only a wholly failed one the first.
func heatLevel(q *float64) int {
	switch {
	case q == nil || math.IsNaN(*q):
		return -1
	case *q <= 1e-9:
		return 0
	case *q >= 1-1e-9:
		return HeatLevels - 1
	}
	return min(max(int(math.Round(*q*(HeatLevels-1))), 1), HeatLevels-2)
}

// splits names the splits above the columns and separates them.
func (p *Plot) splits(rows []report.Row, left, top, bottom, width float64) {
	end := math.Inf(-1)
	for from := 0; from < len(rows); {
		to := from
		for to < len(rows) && rows[to].Split == rows[from].Split {
			to++
		}
		x := left + width*float64(from)
		if from > 0 {
			p.line("heat-part", x, top-14, x, bottom)
		}
		name := SplitName(rows[from].Split)
		if name == "" {
			name = "no split"
		}
		room := width*float64(to-from) - 6
		if s := name + " " + strconv.Itoa(to-from); textWidth(s, fontSize) <= room && x > end {
			p.text("phase-name", "start", x+3, top-6, s)
			end = x + 3 + textWidth(s, fontSize)
		}
		from = to
	}
}

// SplitName names a split for people.
func SplitName(split string) string {
	return map[string]string{"val": "validation", "test": "unseen", "train": "train"}[split]
}
