package main

import (
	"context"
	"fmt"
	"os"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/rebase"
	"github.com/skill-evolve/evolve/tournament/release"
)

// installer puts texts in place for this command.
func (a *app) installer(db *store.Store) *release.Installer {
	home, _ := a.home() // db is open in it
	return &release.Installer{Store: db, Dir: home, Access: a.access, Layout: a.layout(), Now: a.Now, Say: a.Say, Note: a.leaveNote,
		Edited: func(ctx context.Context, live *skill.Live, before string) error {
			k, err := a.carrier(db)
			if err != nil {
				return err
			}
			return k.Edited(ctx, live, before)
		},
		Demo: a.isDemo(), Within: a.demoFolder()}
}

// recordLive brings the store up to date with the file on disk.
func (a *app) recordLive(ctx context.Context, db *store.Store, live *skill.Live) error {
	return a.installer(db).Record(ctx, live)
}

// refuseManaged refuses to spend on a skill of which no version could be
// installed: it is another's, and so is it in every target that to names.
func (a *app) refuseManaged(ctx context.Context, live *skill.Live, to []string, noGate bool) error {
	if !live.Managed {
		return nil
	}
	whose := fmt.Sprintf("skill %s %s", live.Name, skill.Keeper(live.Entry))
	if noGate {
		a.Say("%s: what is found stays in the store, and could be installed nowhere", whose)
		return nil
	}
	targets, err := a.targets(to)
	if err != nil {
		return err
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	if may, err := a.installer(db).MayWrite(ctx, live, targets); may || err != nil {
		return err
	}
	return problem.Refusef("copy its folder to one of your own, with another name, and evolve that; --promote --to installs in another agent's folder; --no-gate only searches",
		"%s: no version of it would last, and nothing was spent", whose)
}

// installProved installs v, which a run's own gate proved, in the targets that were
// named.
func (a *app) installProved(ctx context.Context, live *skill.Live, v tournament.Version, evolves string, targets []string) ([]release.Placed, error) {
	db, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	in := a.installer(db)
	to, err := a.named(targets)
	if err != nil {
		return nil, err
	}
	plan, err := in.PlanProved(ctx, live, v, evolves, to)
	if err != nil {
		return nil, err
	}
	done, err := in.Apply(ctx, plan)
	if err != nil {
		return nil, err
	}
	if to == nil {
		a.sayElsewhere(done)
		return done.Placed, done.HomeRefusal()
	}
	for i := range done.Placed {
		a.Say("%s v%d, %s: %s", v.Skill, done.Version.N, done.Placed[i].Target, placedWords(&done.Placed[i], nil))
	}
	return done.Placed, done.Refusal()
}

// sayElsewhere reports what became of the targets besides the one where the skill lives.
func (a *app) sayElsewhere(r *release.Result) {
	for i := range r.Placed {
		if o := &r.Placed[i]; !o.Home && o.Outcome != release.Same {
			a.Say("%s, %s: %s", r.Live.Name, o.Target, placedWords(o, nil))
		}
	}
}

// fileMode keeps what evolve writes for its owner alone.
const fileMode os.FileMode = 0o600

// carrier carries challengers over to what this command finds edited.
func (a *app) carrier(db *store.Store) (*rebase.Rebaser, error) {
	k, err := a.locks()
	if err != nil {
		return nil, err
	}
	o, err := a.outbox()
	return &rebase.Rebaser{Store: db, Locks: k, Outbox: o, Now: a.Now, Say: a.Say}, err
}
