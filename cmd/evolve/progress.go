package main

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/tournament"
)

// progress tells on stderr how a run gets on: one line that is written over on
// a terminal, a plain line every so often elsewhere.
type progress struct {
	a        *app
	tty      bool
	max      int64
	began    time.Time
	interval time.Duration // between plain lines

	mu    sync.Mutex
	done_ int64
	best  *float64
	phase string
	last  time.Time
	wrote bool
}

func newProgress(a *app, max int64) *progress {
	return &progress{a: a, tty: terminal(a.stderr), max: max, began: a.now(), phase: "search", interval: 10 * time.Second, last: a.now()}
}

// rollout counts one.
func (p *progress) rollout(*eval.Rollout) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done_++
	p.show(false)
}

// event follows the phases.
func (p *progress) event(e tournament.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Best != nil {
		p.best = e.Best
	}
	switch e.Kind {
	case "gate_start":
		var d struct{ Clusters int }
		if json.Unmarshal(e.Data, &d) == nil {
			p.phase = fmt.Sprintf("gate, %d held-out cases", d.Clusters)
		}
	case "search_end":
		p.show(true)
	}
}

// show writes the line; force ignores the interval. p.mu is held.
func (p *progress) show(force bool) {
	if p.a.quiet {
		return
	}
	now := p.a.now()
	every := p.interval
	if p.tty {
		every = 200 * time.Millisecond
	}
	if !force && now.Sub(p.last) < every {
		return
	}
	p.last = now
	of := ""
	if p.max > 0 {
		of = fmt.Sprintf("/%d", p.max)
	}
	best := ""
	if p.best != nil {
		best = fmt.Sprintf(", best %.2f", *p.best)
	}
	line := fmt.Sprintf("%s: %d%s rollouts%s, %s", p.phase, p.done_, of, best, now.Sub(p.began).Round(time.Second))
	if p.tty {
		fmt.Fprintf(p.a.stderr, "\r\x1b[K%s", line)
		p.wrote = true
		return
	}
	fmt.Fprintln(p.a.stderr, line)
}

// done ends the line.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wrote {
		fmt.Fprint(p.a.stderr, "\r\x1b[K")
	}
}
