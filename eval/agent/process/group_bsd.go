//go:build unix && !linux

package process

import (
	"os"
	"syscall"
)

// dieWithUs can do nothing here: a child outlives an evolve that is killed.
func dieWithUs(*syscall.SysProcAttr) {}

// awaitExit cannot wait without reaping here.
func awaitExit(*os.Process) bool { return false }
