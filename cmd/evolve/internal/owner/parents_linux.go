package owner

import (
	"fmt"
	"os"
	"strings"
)

const maxParents = 64

// Parents are the arguments of the processes above this one, the nearest first.
func Parents() (out [][]string) {
	for pid := os.Getppid(); pid > 1 && len(out) < maxParents; {
		args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			return out
		}
		// A program that names itself anew leaves one argument, with blanks.
		list := strings.Split(strings.TrimRight(string(args), "\x00 "), "\x00")
		if len(list) == 1 {
			list = strings.Fields(list[0])
		}
		out = append(out, list)
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return out
		}
		pid = 0
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, "PPid:"); ok {
				fmt.Sscan(rest, &pid)
			}
		}
	}
	return out
}
