package owner

import (
	"os"

	"golang.org/x/sys/unix"
)

const maxParents = 64

// Parents are the names of the processes above this one, the nearest first.
func Parents() (out [][]string) {
	for pid := os.Getppid(); pid > 1 && len(out) < maxParents; {
		p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
		if err != nil {
			return out
		}
		out = append(out, []string{unix.ByteSliceToString(p.Proc.P_comm[:])})
		pid = int(p.Eproc.Ppid)
	}
	return out
}
