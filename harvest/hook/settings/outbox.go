package settings

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/store/datadir"
)

// An Outbox writes what hooks read at the next session: notes that they announce, and
// texts that they do not load.
type Outbox struct {
	Dir    datadir.Dir
	Access datadir.Access // nothing is written unless it is datadir.Writes
	Now    func() time.Time
	Say    func(format string, args ...any) // reports a note that could not be left
}

// Leave leaves a note about a skill for the next session. The note of an installation
// replaces the notes that a better version waits.
func (o *Outbox) Leave(skill string, kind hook.NoteKind, format string, args ...any) {
	if o.Access != datadir.Writes {
		return
	}
	err := hook.Leave(string(o.Dir), hook.Note{Skill: skill, Kind: kind, Time: o.Now().UTC(), Text: fmt.Sprintf(format, args...)})
	if err == nil && kind == hook.Installed {
		err = hook.Withdraw(string(o.Dir), skill, hook.Waiting)
	}
	if err != nil {
		o.Say("the next session will not hear of %s: %v", skill, err)
	}
}

// Guard makes hooks keep the skill's texts in quarantine from being loaded, except
// those that the owner has approved.
func (o *Outbox) Guard(ctx context.Context, db *store.Store, skill string) error {
	if o.Access != datadir.Writes {
		return nil
	}
	held, err := db.Quarantined(ctx, skill)
	if err != nil {
		return err
	}
	words, err := db.Decisions(ctx, skill)
	if err != nil {
		return err
	}
	for _, c := range held {
		if words[c.SHA].Word == store.Approved {
			err = hook.Release(string(o.Dir), c.SHA)
		} else {
			err = hook.Quarantine(string(o.Dir), hook.Guarded{Skill: skill, SHA: c.SHA, Reason: c.Reason})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Decided passes the owner's decision on a candidate to the hooks: an approved text may
// be loaded; a rejected one that the firewall flagged may not, should it ever be in a
// skill's folder. The reason names only rules, because a purge does not remove that
// file.
func (o *Outbox) Decided(d store.Decision, flagged bool) error {
	if d.Word == store.Approved {
		return hook.Release(string(o.Dir), d.SHA)
	}
	if !flagged { // the owner did not want it, but nothing was wrong with it
		return nil
	}
	return hook.Quarantine(string(o.Dir), hook.Guarded{Skill: d.Skill, SHA: d.SHA, Reason: "rejected: " + strings.Join(d.Rules, ", ")})
}
