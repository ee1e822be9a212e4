package main

import (
	"github.com/skill-evolve/evolve/harvest/purge"
	"github.com/skill-evolve/evolve/store/datadir"
)

// sweepTemporary removes the remains of killed runs from the folder for
// temporary files.
func sweepTemporary(a *global) {
	if a.access != datadir.Writes {
		return
	}
	if h, err := a.home(); err == nil {
		purge.Tidy(h)
	}
}
