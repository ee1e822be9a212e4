//go:build !unix

package process

import (
	"os"
	"os/exec"
)

// There are no process groups here: what the child started may survive it.

func prepareGroup(*exec.Cmd, int) {}
func awaitExit(*os.Process) bool  { return false }

func terminateGroup(pid int) { killGroup(pid) }
func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
		_ = p.Release()
	}
}

// A stray cannot be found here.
type stray struct{}

func strays(int) []stray { return nil }
func (stray) kill()      {}
