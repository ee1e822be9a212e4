package process

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithUs has the kernel kill the child when evolve is killed.
func dieWithUs(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// awaitExit returns when the child has ended, true where it is not reaped yet.
func awaitExit(p *os.Process) bool {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}
