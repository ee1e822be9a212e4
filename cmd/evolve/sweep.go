package main

import (
	"github.com/skill-evolve/evolve/harvest/purge"
	"github.com/skill-evolve/evolve/store/datadir"
)

// sweepTemporary removes what killed runs left in the folder for temporary files.
func sweepTemporary(a *global) {
	if a.access != datadir.Writes {
		return
	}
	if h, err := a.home(); err == nil {
		purge.Tidy(h)
	}
}
