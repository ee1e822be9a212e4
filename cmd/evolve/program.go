package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// ownProgram is the path of this program, for what will start it later: as it was
// called, where that is a link, because the next version may lie elsewhere behind
// it.
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
