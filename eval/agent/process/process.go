// Package process runs one child program: in a process group of its own, with a
// bounded output, an environment that is given and not inherited, and, where it
// is asked for, in a sandbox. When the context ends, the whole group ends.
package process

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"
)

// A Command is one child.
type Command struct {
	Path  string   // the program, absolute
	Args  []string // without the program's name
	Dir   string   // where it runs
	Env   []string // all of its environment, KEY=VALUE; nothing is inherited
	Stdin []byte
	// Line is called with every line of stdout without its LF, in order, from
	// one goroutine. An error ends the child and is Run's. nil keeps stdout in
	// the Result.
	Line func(line []byte) error
	// MaxOutput bounds stdout in bytes; 0 is 64 MiB. A child that prints more
	// is ended, and Result.Overflow says so.
	MaxOutput int64
	// Grace is how long the group has between SIGTERM and SIGKILL; 0 is 2 s.
	Grace   time.Duration
	Sandbox *Sandbox // nil: none
}

// A Sandbox is what a child may reach. Everything else does not exist for it:
// no other process, no network, of the file system the system's own folders,
// read-only.
type Sandbox struct {
	Writable []string // folders, absolute; under the same names inside
	Readable []string // files and folders beyond the system's, absolute
	// Hosts are the only way out, as host:port. A loopback address is this
	// machine's own.
	Hosts []string
}

// A Result is how a child ended.
type Result struct {
	Exit     int // exit code; -1 where a signal ended it
	Stdout   []byte
	Stderr   string // its last 8 KiB
	Wall     time.Duration
	Overflow bool
}

// Run runs the child to its end. A child that exits with a code other than 0 is
// no error: CLIs lie there, the caller reads the stream. The error is ctx's, that
// of Line, or tells why the child could not be started.
func Run(ctx context.Context, c Command) (*Result, error) {
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, c.Env, bytes.NewReader(c.Stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	res := new(Result)
	if c.Line == nil {
		res.Stdout, err = io.ReadAll(out)
	} else {
		r := bufio.NewReader(out)
		for {
			line, rerr := r.ReadBytes('\n')
			if len(line) > 0 && err == nil {
				err = c.Line(bytes.TrimSuffix(line, []byte("\n")))
			}
			if rerr != nil {
				break
			}
		}
	}
	werr := cmd.Wait()
	res.Wall, res.Exit, res.Stderr = time.Since(begun), cmd.ProcessState.ExitCode(), stderr.String()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return res, ctx.Err()
	case err != nil:
		return res, err
	case werr != nil && !errors.As(werr, &exit):
		return res, werr
	}
	return res, nil
}

// Available says why no sandbox can be made on this machine; nil where one can.
func Available() error { return errors.New("not yet") }
