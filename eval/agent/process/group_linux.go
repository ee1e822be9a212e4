package process

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithUs has the kernel kill the child when evolve is killed.
func dieWithUs(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// keepFiles keeps the files from children that evolve was started with and does
// not know of. Those that it opened are kept anyway.
func keepFiles() { _ = unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC) }

// awaitExit returns when the child has ended, true where it is not reaped yet.
func awaitExit(p *os.Process) bool {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}
