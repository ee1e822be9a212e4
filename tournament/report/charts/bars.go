package charts

import "fmt"

// A Bar is one text's mean quality, from 0 to 1.
type Bar struct {
	Class string // "no-skill", "incumbent" or "challenger"
	Name  string
	Note  string // on which requests, if they are others than those of the other bars
	Value float64
}

// Bars draws how well texts did, one below the other. nil for no bar.
func Bars(title string, bars []Bar) *Plot {
	if len(bars) == 0 {
		return nil
	}
	const left, right, high = 104.0, plotWidth - 52, 16.0
	p := &Plot{ID: "plot-bars", Width: plotWidth, Title: title}
	x, y := axis{lo: 0, hi: 1, from: left, to: right}, 4.0
	for _, b := range bars {
		p.path("bar-back", rect(left, y, right, y+high))
		p.titled("bar "+b.Class+"-bar", rect(left, y, max(x.at(b.Value), left+1), y+high), fmt.Sprintf("%s: %.2f", b.Name, b.Value))
		p.text("name "+b.Class+"-name", "end", left-8, y+high-4, cut(b.Name, left-12, fontSize))
		p.text("name "+b.Class+"-name", "start", right+6, y+high-4, fmt.Sprintf("%.0f %%", 100*b.Value))
		p.Desc += fmt.Sprintf("%s: %.0f %%. ", b.Name, 100*b.Value)
		y += high + 8
		if b.Note != "" {
			p.text("tick", "start", left, y+4, cut(b.Note, p.Width-left, fontSize))
			y += 15
		}
	}
	p.Height = y
	return p
}
