package timer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/plain"
)

// Time limits for the system's programs, to answer and to act.
const (
	askWait    = 5 * time.Second
	changeWait = 30 * time.Second
)

// Enabled reports whether the system starts the timer: a unit's files alone do
// nothing. An error means that this is not known.
func (t *Timer) Enabled(ctx context.Context) (bool, error) {
	if t.Kind != Systemd {
		return true, nil
	}
	err := call(ctx, askWait, "systemctl", "--user", "is-enabled", unitName+".timer")
	if exit, ok := errors.AsType[exitError](err); ok && exit > 0 {
		return false, nil
	}
	return err == nil, err
}

// enable lets the system start the timer, whose files are already written.
func (t *Timer) enable(ctx context.Context, files []File) error {
	switch t.Kind {
	case Systemd:
		if err := call(ctx, changeWait, "systemctl", "--user", "daemon-reload"); err != nil {
			return err
		}
		return call(ctx, changeWait, "systemctl", "--user", "enable", "--now", unitName+".timer")
	case Launchd:
		domain := fmt.Sprintf("gui/%d", os.Getuid())
		_ = call(ctx, changeWait, "launchctl", "bootout", domain+"/"+agentName) // not loaded yet, mostly
		return call(ctx, changeWait, "launchctl", "bootstrap", domain, files[0].Path)
	}
	return nil
}

// disable keeps the system from starting a timer of a kind.
func disable(ctx context.Context, kind string) error {
	if kind == Systemd {
		return call(ctx, changeWait, "systemctl", "--user", "disable", "--now", unitName+".timer")
	}
	return call(ctx, changeWait, "launchctl", "bootout", fmt.Sprintf("gui/%d/%s", os.Getuid(), agentName))
}

func call(ctx context.Context, wait time.Duration, name string, args ...string) error {
	_, err := answer(ctx, wait, "", name, args...)
	return err
}

// An exitError is the exit code of a program that refused; -1 if a signal ended it.
type exitError int

func (e exitError) Error() string {
	if e < 0 {
		return "ended by a signal"
	}
	return fmt.Sprintf("exit status %d", int(e))
}

// answer returns the output of one of the system's programs. The processes
// that it started end with it.
func answer(ctx context.Context, wait time.Duration, stdin, name string, args ...string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	r, err := process.Run(ctx, process.Command{Path: path, Args: args, Env: os.Environ(), Stdin: []byte(stdin), Grace: time.Second})
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("no answer in %v", wait)
	case err == nil && r.Exit != 0:
		err = exitError(r.Exit)
	case err == nil:
		return string(r.Stdout), nil
	}
	said := ""
	if r != nil {
		said = string(r.Stdout) + r.Stderr
	}
	said = plain.Text(strings.Join(strings.Fields(said), " "))
	return "", fmt.Errorf("%s: %w: %s", strings.Join(append([]string{name}, args...), " "), err, said)
}
