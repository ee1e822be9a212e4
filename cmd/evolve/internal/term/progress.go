package term

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/report"
)

const (
	drawEvery  = 200 * time.Millisecond
	plainEvery = 10 * time.Second
	idleEvery  = time.Minute
	// phaseLine is the least time between the lines of two phases: a run of a
	// second prints its result and no progress.
	phaseLine = 2 * time.Second
)

// progress shows on stderr how far a task is: on a terminal at most three
// lines that are overwritten in place, elsewhere plain lines, nothing with
// --quiet. Its methods may be called concurrently.
type progress struct {
	t       *Terminal
	task    report.Task
	console *console // nil: plain lines
	colour  bool
	began   time.Time
	stop    chan struct{}
	stopped sync.WaitGroup

	mu        sync.Mutex
	phase     string
	ended     bool // the phase has, and the next one is not known yet
	seen      int64
	before    int64 // attempts that were recorded before this process
	sofar     report.BestSoFar
	best      *float64
	incumbent *float64
	val       int   // validation cases that both are on
	held      int64 // held-out cases of the gate, and how many were tried
	tried     int64
	made      int64     // attempts of this process
	recent    []tick    // the last of them, for the pace
	line      time.Time // when the last plain line was written, and what it counted
	lineCount int64
	footer    []string
	width     int
}

// A tick is a time, and the number of attempts until then.
type tick struct {
	at time.Time
	n  int64
}

// Watch begins a view. It ends with done.
func (t *Terminal) Watch(of report.Task) *progress {
	now := t.Now()
	p := &progress{t: t, task: of, began: now, line: now, phase: of.Phase, stop: make(chan struct{})}
	if t.Quiet {
		return p
	}
	if c, ok := t.Stderr.(*console); ok && t.Getenv("CI") == "" {
		p.console, p.colour = c, t.Coloured(c)
	}
	p.stopped.Go(func() {
		_ = eval.Shielded(func() error { p.run(); return nil }) // a view that fails is no reason to end a run
	})
	return p
}

// run refreshes the view until it is done.
func (p *progress) run() {
	tick := time.NewTicker(drawEvery)
	defer tick.Stop()
	interrupted := p.t.Interrupted
	for {
		stopping := false
		select {
		case <-p.stop:
			return
		case <-tick.C:
		case <-interrupted:
			interrupted, stopping = nil, true
		}
		p.mu.Lock()
		if stopping {
			p.phase = "stopping"
		}
		p.show(stopping)
		p.mu.Unlock()
	}
}

// Done ends the view, and removes it from a console.
func (p *progress) Done() {
	if p.t.Quiet {
		return
	}
	close(p.stop)
	p.stopped.Wait()
	if p.console != nil {
		p.console.draw(nil)
	}
}

// Count counts one more.
func (p *progress) Count() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen++
}

// Rollout counts one more, made now or found in the records.
func (p *progress) Rollout(r *eval.Rollout) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen++
	if p.ended {
		p.turn("no skill")
	}
	attempts := int64(max(1, r.Attempts))
	switch {
	case !r.Started.Before(p.began):
		if p.made += attempts; len(p.recent) == paceWindow {
			p.recent = p.recent[1:]
		}
		p.recent = append(p.recent, tick{p.t.Now(), p.made})
	case !p.task.Since.IsZero() && !r.Started.Before(p.task.Since):
		p.before += attempts
	}
}

// Event follows a run through its phases.
func (p *progress) Event(e record.Event) {
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
			return // of a newer evolve: it is only shown
		}
	}
	switch e.Kind {
	case "seed":
		p.incumbent, p.val = d.Quality, d.Cases
	case "search_end", "verdict":
		p.ended = true
	case "gate_start":
		p.held, p.tried = d.Clusters, 0
		p.turn("trial")
	case "gate_pair":
		p.tried++
	}
}

// turn begins another phase. p.mu is held.
func (p *progress) turn(name string) {
	p.phase, p.ended = name, false
	p.show(p.t.Now().Sub(p.line) >= phaseLine)
}

// show refreshes the view if it is due; force prints a plain line now. p.mu
// is held.
func (p *progress) show(force bool) {
	if p.t.Quiet {
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
	now, n := p.t.Now(), p.counted()
	every := plainEvery
	if n == p.lineCount {
		every = idleEvery
	}
	if force || now.Sub(p.line) >= every {
		p.line, p.lineCount = now, n
		fmt.Fprintln(p.t.Stderr, p.text())
	}
}
