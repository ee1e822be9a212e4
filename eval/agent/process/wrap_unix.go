//go:build unix

package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/skill-evolve/evolve/eval/scratch"
)

// guardEnv makes this program run as a guard, and holds the path of its leash.
const guardEnv = "EVOLVE_PROCESS_GUARD"

// notStarted is the guard's exit code if the child could not be started.
const notStarted = 126

func wrap(c Command) (path string, args, env []string, stop func() error, err error) {
	if c.Sandbox != nil {
		if err := c.Sandbox.check(); err != nil {
			return "", nil, nil, nil, err
		}
		if err := Available(); err != nil {
			return "", nil, nil, nil, err
		}
	}
	l := newLeash(c)
	if c.Sandbox != nil {
		if l.Tool, err = sandboxTool(); err != nil {
			return "", nil, nil, nil, err
		}
	}
	if path, err = os.Executable(); err != nil {
		return "", nil, nil, nil, err
	}
	if l.Folder, err = scratch.Dir("", "evolve-guard-"); err != nil {
		return "", nil, nil, nil, err
	}
	h := &held{leash: l}
	if err := h.open(); err != nil {
		return "", nil, nil, nil, errors.Join(err, h.stop())
	}
	spec, err := json.Marshal(l)
	if err != nil {
		return "", nil, nil, nil, errors.Join(err, h.stop())
	}
	env = append(slices.Clone(c.Env), guardEnv+"="+string(spec))
	return path, slices.Clone(c.Args), env, sync.OnceValue(h.stop), nil
}

// held is our side of a leash.
type held struct {
	leash         *leash
	alive, report *os.File
}

func (h *held) open() (err error) {
	for _, name := range []string{h.leash.alive(), h.leash.report()} {
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			return fmt.Errorf("make %s: %w", name, err)
		}
	}
	// Reading as well, because a pipe without a reader cannot be opened.
	if h.alive, err = os.OpenFile(h.leash.alive(), os.O_RDWR, 0); err != nil {
		return err
	}
	h.report, err = os.OpenFile(h.leash.report(), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return err
}

func (h *held) stop() error {
	defer os.RemoveAll(h.leash.Folder)
	if h.alive != nil {
		_ = h.alive.Close()
	}
	if h.report == nil {
		return nil
	}
	defer h.report.Close()
	// A running guard holds the pipe; if none ever started, it is empty.
	_ = h.report.SetReadDeadline(time.Now().Add(h.leash.Grace + 5*time.Second))
	said, err := io.ReadAll(h.report)
	var group int
	if _, serr := fmt.Sscan(string(said), &group); serr == nil && !bytes.HasSuffix(said, []byte("end\n")) {
		// It was killed, or hangs. The kernel has killed the child with it, but not
		// what the child had started. While one of these lives, the group's number is
		// not reused.
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
	if err != nil {
		return fmt.Errorf("wait for the guard of %s: %w", h.leash.Path, err)
	}
	for line := range strings.Lines(string(said)) {
		if why, ok := strings.CutPrefix(line, limitMark); ok {
			return LimitError(strings.TrimSpace(why))
		}
	}
	return nil
}

// limitMark is before what a guard reports of a limit.
const limitMark = "limit: "

// guard is this program between the child and its starter. It returns the exit code.
func guard(spec string) int {
	failed := func(err error) int {
		fmt.Fprintln(os.Stderr, "evolve:", err)
		return notStarted
	}
	var l leash
	if err := json.Unmarshal([]byte(spec), &l); err != nil {
		return failed(fmt.Errorf("guard: read %s: %w", guardEnv, err))
	}
	alive, err := os.OpenFile(l.alive(), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return failed(fmt.Errorf("guard: %w", err))
	}
	report, err := os.OpenFile(l.report(), os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return failed(fmt.Errorf("guard: %w", err))
	}
	c := Command{Path: l.Path, Dir: l.Dir, Args: os.Args[1:], Sandbox: l.Sandbox}
	c.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, guardEnv+"=") })
	for _, kv := range l.Ours {
		name, v, _ := strings.Cut(kv, "=")
		_ = os.Setenv(name, v)
	}
	sandboxTool = func() (string, error) { return l.Tool, nil }
	run, err := prepare(&c)
	if err != nil {
		return failed(err)
	}
	run.cmd.Stdin, run.cmd.Stdout, run.cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// The group is reported before it has a member, or one could be lost if we are
	// killed. So it is our own group, which we leave as soon as the child has joined. A
	// sandbox needs none.
	if home := syscall.Getpgrp(); run.box == nil && home != os.Getpid() && syscall.Setpgid(0, 0) == nil {
		run.group = os.Getpid()
		run.joined = func() { _ = syscall.Setpgid(0, home) }
	}
	if run.group != 0 {
		_, _ = fmt.Fprintln(report, run.group)
	}
	stop := make(chan os.Signal, 8)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	k, err := run.start()
	if err != nil {
		return failed(err)
	}
	if run.group == 0 {
		_, _ = fmt.Fprintln(report, k.group)
	}
	gone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, alive)
		close(gone)
	}()
	select {
	case <-stop:
		k.end(l.Grace)
	case <-gone:
		k.end(l.Grace)
	case <-k.done:
		res := &Result{Exit: k.exit()}
		if err := run.failure(res); err != nil {
			_ = failed(err)
		}
		fmt.Fprint(os.Stderr, res.Stderr)
		if res.Limit != "" {
			_, _ = fmt.Fprintln(report, limitMark+res.Limit)
		}
	}
	run.close()
	_, _ = fmt.Fprintln(report, "end")
	if s, ok := k.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal())
	}
	return k.exit()
}
