// Package guard delivers recorded events to a guard, a program that an agent runs as a hook,
// in the sandbox, and says what it decided about each and whether a second delivery changed
// anything. It keeps nothing.
package guard

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/process"
)

// DefaultTimeout is how long a guard has for an event, unless its settings say otherwise.
const DefaultTimeout = 5 * time.Second

// A Guard is what is tried.
type Guard struct {
	Command string        // as a shell takes it
	Project string        // CLAUDE_PROJECT_DIR; need not exist
	Agent   string        // whose reading of its answers is used: Copilot, or that of all others
	Timeout time.Duration // for one delivery; 0 is DefaultTimeout
	// Readable are files and folders beyond the system's that it needs. Nothing outside
	// of /tmp can be written.
	Readable []string
}

// A Session is delivered in order to one state: what a guard keeps between its events, it keeps.
type Session []Event

// An Event is one that is delivered.
type Event struct {
	// Name is as the settings of its agent spell it.
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// A Decision is what a guard's answer does.
type Decision string

const (
	GoOn  Decision = "go on" // it said nothing, or failed: most agents go on then
	Block Decision = "block"
	Ask   Decision = "ask" // the person is asked
)

// An Answer is what a guard made of an event.
type Answer struct {
	Decision Decision `json:"decision"`
	Reason   string   `json:"reason,omitempty"` // for the agent, or of a failure
	Failed   bool     `json:"failed,omitempty"` // it exited with another code than 0 and 2
	Late     bool     `json:"late,omitempty"`   // it did not end in time
	// Millis are those of the first and of the second delivery.
	Millis [2]float64 `json:"ms"`
	// CPU is what both deliveries took of a processor, in milliseconds.
	CPU float64 `json:"cpu_ms"`
	// Second is what the second delivery did that it should not: another decision, or files
	// that it changed; "" if it changed nothing.
	Second string `json:"second,omitempty"`
}

// A Player delivers events. It starts a sandbox for each session, without a network, with none
// of the owner's files but the guard's, and with an empty /tmp of its own.
type Player struct {
	// Runner is a command line that calls Serve, its program absolute.
	Runner   []string
	Readable []string // files of the runner
	Workers  int      // 0: as many as there are processors
}

// Play delivers each event of each session twice. The answers are in the order of the events;
// delivered is called after each, if it is not nil. The error is ctx's, or why no sandbox runs
// the guard.
func (p *Player) Play(ctx context.Context, g Guard, sessions []Session, delivered func()) ([][]Answer, error) {
	if g.Timeout <= 0 {
		g.Timeout = DefaultTimeout
	}
	workers := p.Workers
	if workers <= 0 {
		workers = runtime.NumCPU()
	}
	out := make([][]Answer, len(sessions))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var all sync.WaitGroup
	var mu sync.Mutex
	for range min(workers, len(sessions)) {
		all.Go(func() {
			for i := range next {
				err := eval.Shielded(func() (err error) {
					out[i], err = p.session(ctx, g, sessions[i], func() {
						mu.Lock()
						defer mu.Unlock()
						if delivered != nil {
							delivered()
						}
					})
					return err
				})
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range sessions {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	all.Wait()
	return out, context.Cause(ctx)
}

// session delivers the events of one.
func (p *Player) session(ctx context.Context, g Guard, s Session, delivered func()) (out []Answer, err error) {
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	if err := errors.Join(enc.Encode(order{g.Command, g.Project, g.Agent, g.Timeout}), enc.Encode(s)); err != nil {
		return nil, fmt.Errorf("deliver events: %w", err)
	}
	r, err := process.Run(ctx, process.Command{Path: p.Runner[0], Args: p.Runner[1:], Stdin: in.Bytes(), MaxOutput: 1 << 40, Dir: "/tmp",
		Sandbox: &process.Sandbox{Readable: slices.Concat(p.Readable, g.Readable)},
		Env:     []string{"PATH=" + os.Getenv("PATH"), "LANG=" + os.Getenv("LANG"), "TMPDIR=/tmp"},
		Line: func(line []byte) error {
			var a Answer
			if err := json.Unmarshal(line, &a); err != nil {
				return fmt.Errorf("deliver events: %w", err)
			}
			out = append(out, a)
			delivered()
			return nil
		}})
	switch {
	case err != nil:
		return out, fmt.Errorf("deliver events: %w", err)
	case len(out) != len(s) || r.Exit != 0: // a guard could write its own answers, and end the runner
		return out, fmt.Errorf("deliver events: %d of %d have an answer: the runner ended with %d: %s", len(out), len(s), r.Exit, cmp.Or(r.Limit, r.Stderr))
	}
	return out, nil
}
