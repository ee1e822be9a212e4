package charts

import (
	"fmt"
	"math"
	"time"

	"github.com/skill-evolve/evolve/eval/plain"
)

// A Use is one use of a skill.
type Use struct {
	Time      time.Time
	Corrected bool
}

// A Mark is an event on the axis of time.
type Mark struct {
	Time time.Time
	Name string
}

// mostBins is how many bars a history has at most.
const mostBins = 26

// History draws uses over time, those that were corrected below, with marks. Uses without
// a time are left out. nil for none.
func History(uses []Use, marks []Mark) *Plot {
	var first, last time.Time
	for _, u := range uses {
		if u.Time.IsZero() {
			continue
		}
		if first.IsZero() || u.Time.Before(first) {
			first = u.Time
		}
		if u.Time.After(last) {
			last = u.Time
		}
	}
	if first.IsZero() {
		return nil
	}
	end := last
	for _, m := range marks {
		if m.Time.After(end) {
			end = m.Time
		}
	}
	day := func(t time.Time) time.Time {
		y, m, d := t.Local().Date()
		return time.Date(y, m, d, 0, 0, 0, 0, time.Local)
	}
	begin, wide := day(first), 1
	days := int(math.Round(day(end).Sub(begin).Hours()/24)) + 1
	for _, step := range []int{1, 7, 14, 28, 91, 364} {
		if wide = step; days <= mostBins*step {
			break
		}
	}
	bins := (days + wide - 1) / wide
	type bar struct{ all, corrected int }
	bars, most, n, corrected := make([]bar, bins), 1, 0, 0
	for _, u := range uses {
		if u.Time.IsZero() {
			continue
		}
		b := &bars[min(bins-1, int(math.Round(day(u.Time).Sub(begin).Hours()/24))/wide)]
		n++
		if b.all++; u.Corrected {
			b.corrected++
			corrected++
		}
		most = max(most, b.all)
	}
	per := map[int]string{1: "day", 7: "week", 14: "two weeks", 28: "four weeks", 91: "quarter", 364: "year"}[wide]
	p := &Plot{ID: "plot-history", Width: plotWidth, Height: 168, Title: "Uses and corrections over time",
		Desc: fmt.Sprintf("%s from %s to %s, %d of them corrected.", plain.Counted(n, "use"), first.Local().Format("2 Jan 2006"), last.Local().Format("2 Jan 2006"), corrected)}
	f := frame{x: axis{lo: 0, hi: float64(bins), from: 30, to: plotWidth - 8}, y: axis{lo: 0, hi: float64(most), from: 136, to: 40}}
	for _, v := range f.y.ticks(4) {
		if v = math.Abs(v); v == math.Trunc(v) { // -0 is 0
			p.line("grid", f.x.from, f.y.at(v), f.x.to, f.y.at(v))
			p.text("tick", "end", f.x.from-5, f.y.at(v)+4, fmt.Sprintf("%.0f", v))
		}
	}
	p.line("axis", f.x.from, f.y.from, f.x.to, f.y.from)
	p.text("axis-title", "start", 2, 11, "uses a "+per)
	gap := min(2, (f.x.to-f.x.from)/float64(bins)/5)
	for i, b := range bars {
		if b.all == 0 {
			continue
		}
		x0, x1 := f.x.at(float64(i))+gap/2, f.x.at(float64(i+1))-gap/2
		from := begin.AddDate(0, 0, i*wide)
		title := fmt.Sprintf("%s: %s, %d corrected", from.Format("2 Jan 2006"), plain.Counted(b.all, "use"), b.corrected)
		p.titled("bar used-bar", rect(x0, f.y.at(float64(b.all)), x1, f.y.at(float64(b.corrected))), title)
		p.titled("bar corrected-bar", rect(x0, f.y.at(float64(b.corrected)), x1, f.y.from), title)
	}
	labels := &placer{bounds: box{f.x.from, 14, p.Width, f.y.to}}
	for _, m := range marks {
		d := day(m.Time).Sub(begin).Hours() / 24 / float64(wide)
		if d < 0 {
			continue
		}
		x := f.x.at(d)
		p.line("rule", x, f.y.to-8, x, f.y.from)
		w := textWidth(m.Name, fontSize)
		for _, y := range []float64{f.y.to - 14, f.y.to - 2} {
			b := box{min(x, p.Width-w) - 1, y - 10, min(x, p.Width-w) + w, y}
			if !labels.taken(b, false) {
				labels.texts = append(labels.texts, b)
				p.text("rule-name", "start", b.x0, y, m.Name)
				break
			}
		}
	}
	p.text("tick", "start", f.x.from, f.y.from+16, begin.Format("2 Jan 2006"))
	if bins > 1 {
		p.text("tick", "end", f.x.to, f.y.from+16, end.Local().Format("2 Jan 2006"))
	}
	return p
}

// A Verdict is how often a version was better than the text before it, worse, and the same.
type Verdict struct {
	Name                string
	Better, Worse, Same int
}

// Versions draws what was measured of each version. nil for none.
func Versions(all []Verdict) *Plot {
	if len(all) == 0 {
		return nil
	}
	const left, right, high = 40.0, plotWidth - 8, 14.0
	p := &Plot{ID: "plot-versions", Width: plotWidth, Title: "Each version against the text before it"}
	y := 4.0
	for _, v := range all {
		n := v.Better + v.Worse + v.Same
		if n == 0 {
			continue
		}
		x := axis{lo: 0, hi: float64(n), from: left, to: right}
		at := 0
		for _, part := range []struct {
			class string
			n     int
		}{{"better-bar", v.Better}, {"used-bar", v.Same}, {"corrected-bar", v.Worse}} {
			if part.n > 0 {
				p.path("bar "+part.class, rect(x.at(float64(at)), y, x.at(float64(at+part.n)), y+high))
			}
			at += part.n
		}
		words := fmt.Sprintf("%d better, %d the same, %d worse", v.Better, v.Same, v.Worse)
		p.text("tick", "end", left-6, y+high-3, v.Name)
		p.text("tick", "start", left, y+high+12, words)
		p.Desc += v.Name + ": " + words + ". "
		y += high + 22
	}
	if p.Height = y; p.Desc == "" {
		return nil
	}
	return p
}
