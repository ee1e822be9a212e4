// Package charts draws the charts of reports as paths and labels, which a template writes
// as inline SVG.
package charts

import (
	"fmt"
	"math"
	"strings"
)

// A Plot is one drawing in inline SVG: paths made of numbers, and text that
// the template escapes. It needs no script; a path's Title is shown when the
// reader points at it.
type Plot struct {
	ID            string // unique on its page
	Width, Height float64
	Title, Desc   string // for those who cannot see it
	Paths         []Path // in the order in which they are painted
	Texts         []Text // above all paths
}

// A Path is one shape. Class is its meaning; the style sheet gives it a look
// in either colour scheme.
type Path struct {
	Class, D, Title string
	Stroke          string // width of the stroke, if it is data; else ""
}

// A Text is one label, its baseline at Y.
type Text struct {
	Class, Anchor string // Anchor is "start", "middle" or "end"
	X, Y          string
	S             string
}

// plotWidth is the width of most plots, in their own units: that of a
// telephone, so that their text has the same size there as elsewhere.
const plotWidth = 368.0

// fontSize is the size of a plot's text in its own units. A plot is never shown
// much smaller than its units (see page.css), so that it stays readable on a
// telephone.
const fontSize = 11.0

// textWidth is about the width of s at size, rather too large: the reader's
// fonts are not known.
func textWidth(s string, size float64) float64 {
	w := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("il.,:;'|!()[] fjt", r):
			w += 0.42
		case r > 0x2e80: // Han, kana, hangul, emoji
			w += 1.1
		case strings.ContainsRune("mwMW@%", r):
			w += 1.0
		default:
			w += 0.66
		}
	}
	return w * size
}

// cut shortens s to a width.
func cut(s string, width, size float64) string {
	if textWidth(s, size) <= width {
		return s
	}
	r := []rune(s)
	for len(r) > 1 && textWidth(string(r)+"…", size) > width {
		r = r[:len(r)-1]
	}
	return strings.TrimRight(string(r), " ,") + "…"
}

func (p *Plot) path(class, d string) { p.Paths = append(p.Paths, Path{Class: class, D: d}) }
func (p *Plot) titled(class, d, title string) {
	p.Paths = append(p.Paths, Path{Class: class, D: d, Title: title})
}
func (p *Plot) line(c string, a, b, x, y float64) { p.path(c, "M"+at(a, b)+"L"+at(x, y)) }

// text adds a label; x is the position of its anchor.
func (p *Plot) text(class, anchor string, x, y float64, s string) {
	p.Texts = append(p.Texts, Text{class, anchor, num(x), num(y), s})
}

// rect is a closed path.
func rect(x0, y0, x1, y1 float64) string {
	return fmt.Sprintf("M%sH%sV%sH%sZ", at(x0, y0), num(x1), num(y1), num(x0))
}

// polyline joins points.
func polyline(xy ...float64) string {
	var b strings.Builder
	for i := 0; i+1 < len(xy); i += 2 {
		b.WriteByte("ML"[min(i, 1)])
		b.WriteString(at(xy[i], xy[i+1]))
	}
	return b.String()
}

// steps joins points by horizontal, then vertical lines.
func steps(xy ...float64) string {
	var b strings.Builder
	for i := 0; i+1 < len(xy); i += 2 {
		if i == 0 {
			b.WriteString("M" + at(xy[0], xy[1]))
			continue
		}
		b.WriteString("H" + num(xy[i]) + "V" + num(xy[i+1]))
	}
	return b.String()
}

// A shape tells marks apart without their colour.
type shape int

const (
	disc shape = iota
	ring
	square
	diamond
	cross
	triangle
)

// glyph is a shape around x, y; r is about its radius.
func glyph(s shape, x, y, r float64) string {
	switch s {
	case square:
		r *= 0.9
		return rect(x-r, y-r, x+r, y+r)
	case diamond:
		r *= 1.3
		return polyline(x, y-r, x+r, y, x, y+r, x-r, y) + "Z"
	case cross:
		return polyline(x-r, y-r, x+r, y+r) + polyline(x-r, y+r, x+r, y-r)
	case triangle:
		return polyline(x, y-r, x+r, y+r*0.8, x-r, y+r*0.8) + "Z"
	}
	return fmt.Sprintf("M%sa%[2]s %[2]s 0 1 0 %[3]s 0a%[2]s %[2]s 0 1 0 -%[3]s 0Z", at(x-r, y), num(r), num(2*r))
}

func at(x, y float64) string { return num(x) + " " + num(y) }

// num formats a coordinate: a tenth of a unit is invisible.
func num(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0" // a coordinate must never break the drawing
	}
	s := fmt.Sprintf("%.1f", v)
	s = strings.TrimSuffix(s, ".0")
	if s == "-0" {
		return "0"
	}
	return s
}
