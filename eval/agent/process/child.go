package process

import (
	"errors"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

const defaultGrace = 2 * time.Second

// A child is a program that was started in a process group of ours.
type child struct {
	cmd   *exec.Cmd
	group int
	// terminate asks the child to end; nil sends SIGTERM to its group.
	terminate func()
	done      chan struct{} // closed when the child was reaped and its group killed
	err       error         // of Wait; valid after done

	mu    sync.Mutex
	ended bool // the group's number may have been reused
}

// startChild starts cmd, whose pipes are set, in the group; 0 is one of its own.
// joined, if not nil, is called when the child is in it.
func startChild(cmd *exec.Cmd, group int, joined func()) (*child, error) {
	prepareGroup(cmd, group)
	k := &child{cmd: cmd, group: group, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// On Linux the child is killed when the thread that forked it ends, so that
		// must not happen before the child has ended itself. Waiting occupies a thread
		// in any case.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil && group == 0 {
			k.group = cmd.Process.Pid
		}
		if err == nil {
			living.Store(k, nil)
			defer living.Delete(k)
		}
		if joined != nil {
			joined()
		}
		started <- err
		if err != nil {
			return
		}
		// If possible, the group is killed before its leader is reaped: until then its
		// number is not reused.
		if awaitExit(cmd.Process) {
			k.killRest()
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
			k.err = err
		}
		k.killRest()
		close(k.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return k, nil
}

// killRest kills what is left of the group, once.
func (k *child) killRest() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ended {
		killGroup(k.group)
	}
	k.ended = true
}

// signal calls f unless the child has ended.
func (k *child) signal(f func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ended {
		f()
	}
}

// end asks the child to end, waits, kills it and its descendants, and returns when it
// is gone.
func (k *child) end(grace time.Duration) {
	if grace <= 0 {
		grace = defaultGrace
	}
	var left []stray
	k.signal(func() {
		if k.terminate != nil {
			k.terminate()
			return
		}
		// They can be found only before the child has ended.
		left = strays(k.cmd.Process.Pid)
		terminateGroup(k.group)
	})
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-k.done:
	case <-t.C:
		k.signal(func() {
			if k.terminate == nil {
				left = append(left, strays(k.cmd.Process.Pid)...)
			}
			killGroup(k.group)
		})
		<-k.done
	}
	for _, s := range left {
		s.kill()
	}
}

// exit is valid after done.
func (k *child) exit() int { return k.cmd.ProcessState.ExitCode() }

func (k *child) cpu() time.Duration {
	return k.cmd.ProcessState.UserTime() + k.cmd.ProcessState.SystemTime()
}
