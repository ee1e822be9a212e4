package process

import (
	"errors"
	"os/exec"
)

// A launch is a command that is ready to be started, with all that goes with it.
type launch struct {
	cmd *exec.Cmd
}

func prepare(c *Command) (*launch, error) {
	if c.Sandbox != nil {
		return nil, errors.New("no sandbox yet")
	}
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would inherit ours
	}
	return &launch{cmd: cmd}, nil
}

func (l *launch) start() (*child, error)    { return startChild(l.cmd) }
func (l *launch) close()                    {}
func (l *launch) failure(res *Result) error { return nil }

func trySandbox() error { return errors.New("not yet") }
