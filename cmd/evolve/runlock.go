package main

import (
	"github.com/skill-evolve/evolve/store/lock"
)

// locks are those of the data folder.
func (a *global) locks() (lock.Locks, error) {
	h, err := a.home()
	return lock.Locks{Dir: h, Now: a.Now}, err
}
