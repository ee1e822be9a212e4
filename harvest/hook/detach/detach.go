// Package detach starts evolve once more, in a process that outlives an agent and its hooks.
package detach

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// maxLog is the size of the log, in bytes, at which a new one is begun; the previous one
// is kept.
const maxLog = 256 << 10

// Start starts this program with args, and does not wait for it. It works in home,
// evolve's data folder, and writes to logs/harvest.log there. It is in a session of its
// own, so that no signal for the agent's process group reaches it.
func Start(home string, args ...string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the program: %w", err)
	}
	if home, err = filepath.Abs(home); err != nil {
		return fmt.Errorf("find the data folder: %w", err)
	}
	log, err := openLog(filepath.Join(home, "logs", "harvest.log"))
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	defer log.Close()
	cmd := &exec.Cmd{Path: program, Args: append([]string{os.Args[0]}, args...), Dir: home, Stdout: log, Stderr: log, SysProcAttr: alone()}
	cmd.Env = append(os.Environ(), "EVOLVE_HOME="+home)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a harvest: %w", err)
	}
	return cmd.Process.Release()
}

// Yield lets all other processes go before this one, and before those that it will start:
// it lowers the priority of its process group, which of a detached process is its own.
// Where there are no priorities, it does nothing.
func Yield() error {
	if err := lowest(); err != nil {
		return fmt.Errorf("lower the priority: %w", err)
	}
	return nil
}

func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
}
