package main

import (
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/skill-evolve/evolve/eval"
)

// leftover is the name of a folder that a replay or a case had to itself.
var leftover = regexp.MustCompile(`^evolve-(replay|case)-\d+$`)

// sweepAge is how old such a folder must be before it can belong to no process
// that still runs: no replay takes that long.
const sweepAge = 24 * time.Hour

// sweep removes what killed runs left in the folder for temporary files. They
// hold files of cases. What cannot be removed is another user's, or no matter.
func (a *app) sweep() {
	found, err := os.ReadDir(os.TempDir())
	if err != nil {
		return
	}
	for _, e := range found {
		info, err := e.Info()
		if err == nil && e.IsDir() && leftover.MatchString(e.Name()) && a.now().Sub(info.ModTime()) > sweepAge {
			_ = eval.RemoveTree(filepath.Join(os.TempDir(), e.Name()))
		}
	}
}
