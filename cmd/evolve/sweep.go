package main

import (
	"github.com/skill-evolve/evolve/harvest/purge"
	"github.com/skill-evolve/evolve/store/datadir"
)

// sweep removes what killed runs left in the folder for temporary files.
func (a *app) sweep() {
	if a.access != datadir.Writes {
		return
	}
	if h, err := a.home(); err == nil {
		purge.Tidy(h)
	}
}
