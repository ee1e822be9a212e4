package main

import (
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
)

// How often a view is renewed at most: on a console five times a second, elsewhere
// a line every ten seconds, or every minute while nothing comes.
const ()

// task is what a view of the run is told.
func (p *prepared) task(fc *forecast) term.Task {
	budget := p.plan.Budget
	t := term.Task{Phase: "search", Unit: "rollouts", Total: fc.Rollouts, Count: func() int64 { return budget.Spent().Rollouts },
		Budget: budget, Caps: p.f.caps(), Expect: time.Duration(fc.Minutes * float64(time.Minute)), Bound: true}
	if p.f.Carried != "" {
		t.Phase = "gate"
	}
	if p.f.resume != "" {
		t.Since = p.run.Started
	}
	return t
}
