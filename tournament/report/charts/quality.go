package charts

import (
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/tournament/report"
)

// Quality draws the search: the best validation quality so far against the rollouts
// spent, each candidate at the point at which it was measured, the phases,
// and below the plot which proposals won their minibatch. nil if there is
// nothing to draw.
func Quality(m *report.Model) *Plot {
	var best, points []float64
	end, confirmed := 0.0, -1
	for i, s := range m.Events {
		end = max(end, float64(s.Rollouts))
		switch {
		case s.Kind == "confirmed":
			confirmed = i
		case s.Best != nil && confirmed < 0 && !strings.HasPrefix(s.Kind, "gate") && s.Kind != "verdict":
			q := *s.Best
			if n := len(best); n > 0 {
				q = max(q, best[n-1]) // repeated trials of the leader may come out lower
			}
			best = append(best, float64(s.Rollouts), q)
		}
	}
	if len(best) == 0 {
		return nil
	}
	p := &Plot{ID: "plot-quality", Width: plotWidth, Height: 260, Title: "Best quality so far",
		Desc: fmt.Sprintf("The best validation quality is %.2f after %.0f rollouts and %.2f after %.0f.", best[1], best[0], best[len(best)-1], best[len(best)-2])}
	f := frame{x: axis{lo: 0, hi: max(end, 1), from: 40, to: plotWidth - 8}, y: axis{lo: 0, hi: 1, from: 196, to: 44},
		xTitle: "answers of the agent so far", yTitle: "quality, 0 to 1", xTicks: 7, yTicks: 6, whole: true, drop: 18}
	p.phases(m.Events, f)
	p.frame(f)

	accepted, refused := 0, 0
	size := 1.0
	if len(m.Candidates) > 60 {
		size = 0.6
	}
	for _, s := range m.Events {
		x, measured := f.x.at(float64(s.Rollouts)), s.Quality()
		switch s.Kind {
		case "accepted":
			accepted++
			p.titled("won", glyph(triangle, x, 206, 3.6*size), s.Text)
		case "refused":
			refused++
			p.titled("lost", glyph(cross, x, 206, 2.6*size), s.Text)
		case "seed", "validated", "leading", "dominated":
			if measured == nil {
				continue
			}
			y, class := f.y.at(*measured), "point"
			sh := disc
			if s.Kind == "leading" || s.Kind == "dominated" {
				class, sh = "part", ring
			}
			if s.Kind == "seed" {
				class, sh = "incumbent", square
			}
			points = append(points, x, y)
			p.titled(class, glyph(sh, x, y, 4*size), s.Text)
		}
	}
	if confirmed >= 0 {
		if s := &m.Events[confirmed]; s.Quality() != nil {
			p.titled("challenger", glyph(diamond, f.x.at(float64(s.Rollouts)), f.y.at(*s.Quality()), 4.2), s.Text)
			p.Desc += fmt.Sprintf(" The winner scores %.2f in a trial that had no part in choosing it.", *s.Quality())
		}
	}
	var line []float64
	for i := 0; i < len(best); i += 2 {
		line = append(line, f.x.at(best[i]), f.y.at(best[i+1]))
	}
	line = append(line, f.x.to, line[len(line)-1]) // nothing better came until the end
	p.path("curve", steps(line...))
	p.Desc += fmt.Sprintf(" %d candidates were measured; %s won a minibatch, %d lost one.", len(points)/2, plain.Counted(accepted, "proposal"), refused)
	return p
}

// phases shades the phases of the search, with a name if there is room.
func (p *Plot) phases(events []report.Step, f frame) {
	type phase struct {
		name     string
		from, to float64
	}
	var all []phase
	begin := func(name string, at int64) {
		if n := len(all); n > 0 {
			if all[n-1].to = float64(at); all[n-1].name == name {
				return
			}
		}
		all = append(all, phase{name, float64(at), float64(at)})
	}
	for i, s := range events {
		switch s.Kind {
		case "search_start":
			begin("search", s.Rollouts)
		case "finals":
			if i > 0 { // what it reports was spent before it
				begin("finals", events[i-1].Rollouts)
			}
		case "gate_start":
			begin("unseen", s.Rollouts)
		}
		if n := len(all); n > 0 {
			all[n-1].to = float64(s.Rollouts)
		}
	}
	for i, ph := range all {
		x0, x1 := f.x.at(ph.from), f.x.at(ph.to)
		if i%2 == 1 {
			p.path("phase", rect(x0, f.y.to-16, x1, f.y.from))
		}
		if name := ph.name; x1-x0 > textWidth(name, fontSize)+6 {
			p.text("phase-name", "middle", (x0+x1)/2, f.y.to-5, name)
		}
	}
}
