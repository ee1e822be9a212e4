//go:build unix && !linux

package process

import (
	"os"
	"syscall"
)

// dieWithUs can do nothing here: a child outlives an evolve that is killed.
func dieWithUs(*syscall.SysProcAttr) {}

// keepFiles can do nothing here: a file that evolve was started with may be the
// child's too.
func keepFiles() {}

// awaitExit cannot wait without reaping here.
func awaitExit(*os.Process) bool { return false }

// A stray cannot be found here.
type stray struct{}

func strays(int) []stray { return nil }
func (stray) kill()      {}
