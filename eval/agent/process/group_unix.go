//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

func prepareGroup(cmd *exec.Cmd, group int) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	if !cmd.SysProcAttr.Setsid { // a session's leader leads a group
		cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Pgid = true, group
	}
	dieWithUs(cmd.SysProcAttr)
	keepFiles()
}

// An error of kill means that no process is left.
func terminateGroup(group int) { _ = syscall.Kill(-group, syscall.SIGTERM) }
func killGroup(group int)      { _ = syscall.Kill(-group, syscall.SIGKILL) }
