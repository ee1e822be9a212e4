package main

import (
	"github.com/skill-evolve/evolve/harvest/hook/settings"
)

// outbox writes what hooks read at the next session.
func (a *global) outbox() (*settings.Outbox, error) {
	home, err := a.home()
	return &settings.Outbox{Dir: home, Access: a.access, Now: a.Now, Say: a.Say}, err
}
