// Package process runs one child program: in a process group of its own, with a bounded
// output, an environment that is given and not inherited and, if requested, in a
// sandbox. When the context ends, the whole group ends.
package process

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The bounds of what is kept of a child's output, in bytes.
const (
	// MaxLine bounds a line that Command.Line is given.
	MaxLine = 8 << 20

	defaultOutput = 64 << 20
	stderrKept    = 8 << 10
)

// A Command is one child.
type Command struct {
	Path  string   // the program, absolute
	Args  []string // without the program's name
	Dir   string   // where it runs; "" is where this process runs, in a sandbox /
	Env   []string // all of its environment, KEY=VALUE; nothing is inherited
	Stdin []byte
	// Line is called with every line of stdout without its LF, in order, from one
	// goroutine that has ended when Run returns, including lines that the child prints
	// while it is being ended; the bytes are valid during the call only. Nothing more
	// is read while it works, and Run waits for it. A line longer than MaxLine is cut
	// to that length, see Result.Cut. An error ends the child and is Run's. If Line is
	// nil, stdout is in the Result.
	Line func(line []byte) error
	// MaxOutput limits stdout in bytes; 0 is 64 MiB. A child that prints more is ended,
	// and Result.Overflow is set.
	MaxOutput int64
	// Grace is how long the child has between SIGTERM and SIGKILL; 0 is 2 s.
	Grace   time.Duration
	Sandbox *Sandbox // nil: none
}

// A Result is how a child ended.
type Result struct {
	Exit   int // exit code; -1 if a signal ended it (in a sandbox: 128 + the signal)
	Stdout []byte
	Stderr string // its last 8 KiB
	// Wall is the time from the start of the child to its end, without preparing a
	// sandbox and reading what was left in the pipes.
	Wall     time.Duration
	CPU      time.Duration // of the child and what it waited for
	Overflow bool          // it printed more than MaxOutput; what came first was delivered
	Cut      int           // lines that were longer than MaxLine
	// Limit is which limit of its sandbox ended it, in words; "" for none.
	Limit string
}

// Run runs the child to its end. A child that exits with a code other than 0 is no
// error: CLIs' exit codes are unreliable, and the caller reads the stream. The error is
// ctx's, that of Line, or the reason why the child could not be started; the result is
// nil only in the last case.
//
// When ctx ends, the process group is sent SIGTERM, and SIGKILL after Grace; on Linux
// descendants that have left the group are killed too. When the child itself has ended,
// for whatever reason, what is left of its group is killed at once, and what is in the
// pipes is still read: Run does not wait for others that hold them open. Processes that
// left the group of a child that ended by itself cannot be found; in a sandbox nothing
// survives. On Linux the child also ends when this process is killed, and in a sandbox
// all that it has started.
func Run(ctx context.Context, c Command) (*Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, err := prepare(&c)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	defer l.close()
	streams, err := newStreams(l.cmd, &c)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	begun := time.Now()
	k, err := l.start()
	streams.started()
	if err != nil {
		streams.close()
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	select {
	case <-ctx.Done():
		k.end(c.Grace)
		err = ctx.Err()
	case err = <-streams.trouble:
		k.end(c.Grace)
	case <-k.done:
	}
	res := &Result{Wall: time.Since(begun)}
	if late := streams.finish(res); err == nil {
		err = late // an error of Line on the rest in the pipe
	}
	if res.Overflow = errors.Is(err, errOverflow); res.Overflow {
		err = nil
	}
	if err == nil {
		err = k.err
	}
	res.Exit, res.CPU = k.exit(), k.cpu()
	if err == nil {
		err = l.failure(res)
	}
	if streams.caught != nil {
		panic(streams.caught)
	}
	return res, err
}
