//go:build !unix

package process

import (
	"os"
	"os/exec"
)

// There are no process groups here: what the child started may survive it.

func ownGroup(*exec.Cmd)           {}
func awaitExit(*os.Process) bool   { return false }
func terminateGroup(p *os.Process) { _ = p.Kill() }
func killGroup(p *os.Process)      { _ = p.Kill() }
