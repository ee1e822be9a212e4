//go:build unix && !linux

package process

import (
	"os"
	"syscall"
)

// dieWithUs is not possible here: a child outlives an evolve that is killed.
func dieWithUs(*syscall.SysProcAttr) {}

// keepFiles is not possible here: the child may inherit a file that evolve was started
// with.
func keepFiles() {}

// awaitExit cannot wait without reaping here.
func awaitExit(*os.Process) bool { return false }

// A stray cannot be found here.
type stray struct{}

func strays(int) []stray { return nil }
func (stray) kill()      {}
