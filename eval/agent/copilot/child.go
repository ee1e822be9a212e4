package copilot

import (
	"fmt"
	"os/exec"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/eval/agent/process"
)

// maxOutput limits the output of one program, in bytes. It repeats the whole
// conversation at the end of every turn.
const maxOutput = 1 << 30

// grace is the time between SIGTERM and SIGKILL. The program has nothing to save, and
// ends at once.
var grace = time.Second // a recorder of tests needs longer

// A child is the program with its bridge.
type child struct {
	home   string // of all that runs outside of a sandbox; "" inside
	cmd    *exec.Cmd
	bridge *bridge
	stop   func() error
	once   sync.Once
	stderr tail
	reaped chan struct{}
	served chan struct{}
}

// start starts the program on the stage.
func (k *talk) start() (*child, error) {
	a := k.agent
	conf := a.conf
	conf.Credentials = nil // they go another way
	env := append(a.route.env(a.conf.Model), "COPILOT_HOME="+k.stage.Config, cacheVar+"="+a.prog.cache)
	path, args, env, stop, err := process.Wrap(process.Command{Path: a.prog.Path, Args: a.route.args(),
		Dir: k.stage.Workspace, Env: k.stage.Env(conf, env...), Grace: grace, Sandbox: k.sandbox})
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(path, args...), stop: stop, reaped: make(chan struct{}), served: make(chan struct{})}
	if k.sandbox == nil {
		c.home = k.stage.Home
	}
	c.cmd.Env, c.cmd.Dir, c.cmd.Stderr, c.cmd.WaitDelay = env, k.stage.Root, &c.stderr, time.Second
	fail := func(err error) (*child, error) {
		_ = stop()
		return nil, fmt.Errorf("start copilot: %w", err)
	}
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		return fail(err)
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return fail(err)
	}
	if c.bridge, err = newBridge(maxOutput); err != nil {
		return fail(err)
	}
	if err := c.cmd.Start(); err != nil {
		c.bridge.close()
		return fail(err)
	}
	go func() {
		defer close(c.served)
		c.bridge.serve(stdin, stdout)
	}()
	go func() {
		defer close(c.reaped)
		_ = c.cmd.Wait() // its exit code has no meaning; Wait closes the pipes
	}()
	return c, nil
}

// end ends the program and everything that it started, and returns when they are gone.
func (c *child) end() {
	_ = c.stop()
	if c.home != "" {
		c.once.Do(func() { killStrays(c.home) })
	}
}

// close ends the child and waits for everything that belongs to it.
func (c *child) close() {
	c.end()
	c.bridge.close()
	<-c.reaped
	<-c.served
}

// tail keeps the last of what is written.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// maxTail is how much a tail keeps, in bytes.
const maxTail = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p[max(0, len(p)-maxTail):]...)
	t.text = t.text[max(0, len(t.text)-maxTail):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
