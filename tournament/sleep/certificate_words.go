package sleep

import (
	"fmt"
	"math"
	"strings"

	"github.com/skill-evolve/evolve/pareto"
)

// shortLine is how long the line of a certificate that is not closed may be, in
// characters: it comes again every night.
const shortLine = 120

// String is the certificate in one line: what became of it, and the numbers that
// this rests on. One that is not closed is told in short; Reason and Worth have all
// of it.
func (c *Certificate) String() string {
	s, mark := fmt.Sprintf("on %v: %s", c.Model, c.Word()), ": "
	if c.Outcome == Open && c.Lift == LiftOpen {
		return c.soFar(s)
	}
	if c.Reason != "" {
		s, mark = s+mark+c.Reason, "; "
	}
	if c.Worth != "" && (c.Outcome != Worse || c.Lift == NoLift) { // an alarm has no need of more
		s += mark + c.Worth
	}
	return s
}

// soFar adds to s how far the evidence of an open certificate goes, as much of it as
// the line has room for.
func (c *Certificate) soFar(s string) string {
	if c.Cases == 1 {
		s += ", 1 case"
	} else {
		s += fmt.Sprintf(", %d cases", c.Cases)
	}
	mark := ": "
	add := func(format string, args ...any) {
		if more := mark + fmt.Sprintf(format, args...); len([]rune(s+more)) <= shortLine {
			s, mark = s+more, "; "
		}
	}
	against, alone := pareto.NewTrial(certifying()), []float64(nil)
	for _, p := range c.Parts {
		for _, d := range p.Against {
			against.Add(d)
		}
		for _, d := range p.Alone {
			if !math.IsNaN(d.Quality) {
				alone = append(alone, d.Quality)
			}
		}
	}
	d := against.Decide()
	if q := d.PerObjective[pareto.Quality]; q.Measured {
		add("quality %+.2f (%+.2f to %+.2f)", q.Estimate.Mean, q.Estimate.Low, q.Estimate.High)
	}
	if len(alone) > 0 {
		add("%+.2f over no skill", pareto.Compare(alone, liftLevel).Mean)
	}
	if open := beyond(d); len(open) > 0 {
		before := s
		if add("open: %s", strings.Join(open, ", ")); s == before {
			add("%d objectives open", len(open))
		}
	}
	return s
}
