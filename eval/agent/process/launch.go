package process

import "os/exec"

// A launch is a command that is ready to be started, with its resources.
type launch struct {
	cmd *exec.Cmd
	box *box // nil without a sandbox
	// group is the process group that the child joins; 0 makes one of its own.
	group  int
	joined func() // called when it has
}

func prepare(c *Command) (*launch, error) {
	if c.Sandbox != nil {
		cmd, b, err := openBox(c)
		if err != nil {
			return nil, err
		}
		return &launch{cmd: cmd, box: b}, nil
	}
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would inherit ours
	}
	return &launch{cmd: cmd}, nil
}

func (l *launch) start() (*child, error) {
	k, err := startChild(l.cmd, l.group, l.joined)
	if l.box == nil {
		return k, err
	}
	l.box.started()
	if err == nil {
		k.terminate = func() { l.box.terminate(k.group) }
		l.box.watch(k)
	}
	return k, err
}

// failure returns an error if it was the sandbox, and not the program, that failed. The
// child must have ended.
func (l *launch) failure(res *Result) error {
	if l.box == nil {
		return nil
	}
	return l.box.failure(res)
}

func (l *launch) close() {
	if l.box != nil {
		l.box.close()
	}
}
