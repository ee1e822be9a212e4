package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithUs has the kernel kill the child when evolve is killed.
func dieWithUs(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// keepFiles keeps children from inheriting files that evolve was started with and does
// not know. Those that it opened itself are never inherited.
func keepFiles() { _ = unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC) }

// awaitExit returns when the child has ended, true if it is not reaped yet.
func awaitExit(p *os.Process) bool {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}

// A stray is a descendant of a child that may have left its group, such as a shell that
// an agent starts in a session of its own.
type stray struct {
	pid   int
	begun string // when it was started: a number may be reused
}

// strays finds the present descendants. The children of a process that has already
// ended are no descendants any more.
func strays(pid int) (found []stray) {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		for _, field := range bytes.Fields(list) {
			if n, err := strconv.Atoi(string(field)); err == nil {
				found = append(append(found, stray{n, begun(n)}), strays(n)...)
			}
		}
	}
	return found
}

// begun is the start time of a process, in ticks since the machine's; "" if
// there is no such process (proc(5), stat, field 22).
func begun(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The second field is a name, which may hold anything but ends with the last ).
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 20 {
		return ""
	}
	return string(fields[19])
}

func (s stray) kill() {
	if s.begun != "" && begun(s.pid) == s.begun {
		_ = syscall.Kill(s.pid, syscall.SIGKILL)
	}
}
