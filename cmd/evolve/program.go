package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// ownProgram is the path of this program, for timers and hooks that start it
// later. If it was called through a link, that is the link's path: an update
// may change its target.
func ownProgram() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the program: %w", err)
	}
	called, err := exec.LookPath(os.Args[0])
	if err != nil {
		return exe, nil //nolint:nilerr // it was called in another way
	}
	if called, err = filepath.Abs(called); err != nil {
		return exe, nil //nolint:nilerr // the folder is gone
	}
	a, errA := os.Stat(called)
	b, errB := os.Stat(exe)
	if errA == nil && errB == nil && os.SameFile(a, b) {
		return called, nil
	}
	return exe, nil
}
