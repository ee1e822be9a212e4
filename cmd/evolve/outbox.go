package main

import (
	"context"

	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/harvest/hook/settings"
	"github.com/skill-evolve/evolve/store"
)

// outbox writes what hooks read at the next session.
func (a *app) outbox() (*settings.Outbox, error) {
	home, err := a.home()
	return &settings.Outbox{Dir: home, Access: a.access, Now: a.Now, Say: a.Say}, err
}

// leaveNote tells the next session something.
func (a *app) leaveNote(skill string, kind hook.NoteKind, format string, args ...any) {
	o, err := a.outbox()
	if err != nil {
		a.Say("the next session will not hear of %s: %v", skill, err)
		return
	}
	o.Leave(skill, kind, format, args...)
}

// guardQuarantine keeps the skill's texts in quarantine from being loaded.
func (a *app) guardQuarantine(ctx context.Context, db *store.Store, name string) error {
	o, err := a.outbox()
	if err != nil {
		return err
	}
	return o.Guard(ctx, db, name)
}
