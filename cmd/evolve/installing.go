package main

import (
	"os"

	"github.com/skill-evolve/evolve/harvest/hook/settings"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/release"
)

// installer installs texts for this command.
func (a *global) installer(db *store.Store) (*release.Installer, error) {
	o, err := a.outbox()
	return a.installerWith(o, db), err
}

func (a *global) installerWith(o *settings.Outbox, db *store.Store) *release.Installer {
	return &release.Installer{Store: db, Dir: o.Dir, Access: a.access, Layout: a.layout(), Now: a.Now, Say: a.Say, Note: o.Leave,
		Demo: a.isDemo(), Within: a.demoFolder(), MayTarget: mayTarget(a)}
}

// sayProved reports the installation of a challenger that the run's own gate
// proved; named means that the user named targets. The error is the refusal
// of a target.
func sayProved(a *global, done *release.Result, named bool) ([]release.Placed, error) {
	if !named {
		done.Elsewhere(a.Say)
		return done.Placed, done.HomeRefusal()
	}
	for i := range done.Placed {
		a.Say("%s v%d, %s: %s", done.Live.Name, done.Version.N, done.Placed[i].Target, done.Placed[i].Words(nil))
	}
	return done.Placed, done.Refusal()
}

// fileMode makes files readable by their owner alone.
const fileMode os.FileMode = 0o600
