package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/report"
)

// A task is what a progress view is told about.
type task struct {
	Of    string // whose: a skill's name where there are several, else ""
	Phase string // the first
	Unit  string // what is counted: "rollouts", "sessions"
	Total int64  // of them; 0: nobody knows
	// Count tells how many there are; nil: as many as the view was told of.
	Count  func() int64
	Budget *eval.Budget // nil: nothing is spent
	Caps   eval.Caps    // of Budget
	// Since is when a resumed run began: what was recorded since counts as done
	// before. Zero: nothing was.
	Since time.Time
	// Expect is what Total takes by the forecast; 0: unknown.
	Expect time.Duration
	// Bound: Total may not be needed, the evidence or the patience can end it.
	Bound bool
}

// How often a view is renewed at most: on a console five times a second, elsewhere
// a line every ten seconds, or every minute while nothing comes.
const (
	drawEvery  = 200 * time.Millisecond
	plainEvery = 10 * time.Second
	idleEvery  = time.Minute
	// phaseLine is how far the line of a new phase must be from the last one: a
	// run of a second says what it came to, and no more.
	phaseLine = 2 * time.Second
)

// progress tells on stderr how something gets on: at most three lines that are
// drawn over on a terminal, plain lines elsewhere, nothing with --quiet. Its
// methods may be called concurrently.
type progress struct {
	a       *app
	task    task
	console *console // nil: plain lines
	colour  bool
	began   time.Time
	stop    chan struct{}
	stopped sync.WaitGroup

	mu        sync.Mutex
	phase     string
	ended     bool // the phase has, and the next one is not known yet
	told      int64
	before    int64 // attempts that were recorded before this process
	sofar     report.BestSoFar
	best      *float64
	incumbent *float64
	val       int   // validation cases that both are on
	held      int64 // held-out cases of the gate, and how many were tried
	tried     int64
	pace      pace
	said      time.Time // the last plain line
	saidCount int64
	footer    []string
	width     int
}

// watch begins a view. It ends with done.
func (a *app) watch(t task) *progress {
	now := a.now()
	p := &progress{a: a, task: t, began: now, said: now, phase: t.Phase, stop: make(chan struct{})}
	if a.quiet {
		return p
	}
	if c, ok := a.stderr.(*console); ok && a.getenv("CI") == "" {
		p.console, p.colour = c, a.coloured(c)
	}
	p.stopped.Go(func() {
		_ = eval.Shielded(func() error { p.run(); return nil }) // a view that fails is no reason to end a run
	})
	return p
}

// run renews the view until it is done.
func (p *progress) run() {
	tick := time.NewTicker(drawEvery)
	defer tick.Stop()
	resized, end := onResize()
	defer end()
	for {
		select {
		case <-p.stop:
			return
		case <-resized:
		case <-tick.C:
		case <-p.a.interrupted:
			p.setPhase("stopping")
			select { // the footer stands still meanwhile: it has said the last thing
			case <-p.stop:
				return
			case <-resized:
			}
		}
		p.mu.Lock()
		p.show(false)
		p.mu.Unlock()
	}
}

// done ends the view; nothing of it is left on a console.
func (p *progress) done() {
	if p.a.quiet {
		return
	}
	close(p.stop)
	p.stopped.Wait()
	if p.console != nil {
		p.console.draw(nil)
	}
}

// task is what a view of the run is told.
func (p *prepared) task(fc *forecast) task {
	budget := p.plan.Budget
	t := task{Phase: "search", Unit: "rollouts", Total: fc.Rollouts, Count: func() int64 { return budget.Spent().Rollouts },
		Budget: budget, Caps: p.f.caps(), Expect: time.Duration(fc.Minutes * float64(time.Minute)), Bound: true}
	if p.f.Carried != "" {
		t.Phase = "gate"
	}
	if p.f.resume != "" {
		t.Since = p.run.Started
	}
	return t
}

// count tells of one more.
func (p *progress) count() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told++
}

// rollout tells of one more, made now or found in the records.
func (p *progress) rollout(r *eval.Rollout) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told++
	if p.ended {
		p.turn("no-skill arm")
	}
	attempts := int64(max(1, r.Attempts))
	switch {
	case !r.Started.Before(p.began):
		p.pace.add(p.a.now(), attempts)
	case !p.task.Since.IsZero() && !r.Started.Before(p.task.Since):
		p.before += attempts
	}
}

// event follows a run through its phases.
func (p *progress) event(e tournament.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.best = p.sofar.See(e)
	var d struct {
		Quality  *float64
		Cases    int
		Clusters int64
	}
	if e.Kind == "seed" || e.Kind == "gate_start" {
		if err := json.Unmarshal(e.Data, &d); err != nil {
			return // the run's own, and only shown
		}
	}
	switch e.Kind {
	case "seed":
		p.incumbent, p.val = d.Quality, d.Cases
	case "search_end", "verdict":
		p.ended = true
	case "gate_start":
		p.held, p.tried = d.Clusters, 0
		p.turn("gate")
	case "gate_pair":
		p.tried++
	}
}

// setPhase begins another phase, whatever is said of the one before.
func (p *progress) setPhase(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase = name
	p.show(true)
}

// turn begins another phase. p.mu is held.
func (p *progress) turn(name string) {
	p.phase, p.ended = name, false
	p.pace.when = time.Time{} // what was left of the phase before is none of this one's
	p.show(p.a.now().Sub(p.said) >= phaseLine)
}

// show renews the view where it is time to; force makes it a plain line's time.
// p.mu is held.
func (p *progress) show(force bool) {
	if p.a.quiet {
		return
	}
	if p.console != nil {
		width, height := p.console.size()
		lines := p.lines(width, min(3, height-1))
		if width != p.width || !slices.Equal(lines, p.footer) {
			p.width, p.footer = width, lines
			p.console.draw(lines)
		}
		return
	}
	now, n := p.a.now(), p.counted()
	every := plainEvery
	if n == p.saidCount {
		every = idleEvery
	}
	if !force && now.Sub(p.said) < every {
		return
	}
	p.said, p.saidCount = now, n
	fmt.Fprintln(p.a.stderr, p.line())
}
