package main

import (
	"os"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/scratch"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
)

// sweep removes what killed runs of this data folder left in the folder for
// temporary files: their workspaces hold files of cases. What cannot be removed
// stays listed, for the next time.
func (a *app) sweep() {
	if a.access != datadir.Writes {
		return
	}
	if h, err := a.home(); err == nil {
		_, _, _ = scratch.Sweep(string(h), eval.RemoveTree) // tidying up is nothing to end a run for
		store.SweepCopies(h.Database())
	}
}

// doubtfulAge is how old a folder must be that has a name of ours and stands in no
// ledger of ours before its owner is asked to look at it. Another data folder's
// run may be using a younger one.
const doubtfulAge = 24 * time.Hour

// doubtful are such folders. A name alone does not make one evolve's to remove.
func (a *app) doubtful(home string) (paths []string) {
	listed := scratch.Listed(home)
	for _, path := range inside(os.TempDir(), "evolve-*") {
		info, err := os.Lstat(path)
		if err == nil && scratch.Own(path) && !slices.Contains(listed, path) && a.Now().Sub(info.ModTime()) > doubtfulAge {
			paths = append(paths, path)
		}
	}
	return paths
}
