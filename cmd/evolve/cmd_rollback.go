package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/spf13/cobra"
)

// rollbackFlags are the choices of evolve rollback.
type rollbackFlags struct {
	to    []string
	force bool
}

func newRollbackCommand(a *app) *cobra.Command {
	var f rollbackFlags
	c := &cobra.Command{
		Use:   "rollback SKILL[@vN]",
		Short: "Put the version before the live one back, or the named one",
		Long: `rollback puts back what the live version took the place of, or the version behind
the @, in every target where the live version is installed; --to names others. A
target that had no such skill before loses it again: what evolve copied there and
nobody has changed. An edit by hand becomes a version first, so nothing is lost.`,
		Example: "  evolve rollback dataviz\n  evolve rollback dataviz@v0\n  evolve rollback dataviz --to codex",
		Args:    exactArgs(1, "a skill"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := namesTarget(c, f.to); err != nil {
				return err
			}
			return a.rollbackSkill(c.Context(), args[0], f)
		},
	}
	toFlag(c.Flags(), &f.to, "where to put it back")
	c.Flags().BoolVar(&f.force, "force", false, "also where the skill is pinned, or a target holds an edit (it is kept as a version)")
	return c
}

// rollback takes the live version back wherever it is installed.
func (a *app) rollback(ctx context.Context, arg string) error {
	return a.rollbackSkill(ctx, arg, rollbackFlags{})
}

func (a *app) rollbackSkill(ctx context.Context, arg string, f rollbackFlags) error {
	name, at, _ := strings.Cut(arg, "@")
	live, err := a.skillAsItIs(name)
	if err != nil {
		return err
	}
	var named []target // --to alone: the configuration says where versions go, not where they are
	if len(f.to) > 0 {
		if named, err = a.targets(f.to); err != nil {
			return err
		}
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	pin, err := pinned(ctx, db, name)
	if err != nil {
		return err
	}
	if pin != nil && !f.force {
		return pin.refuse(store.OpRollback)
	}
	finished, err := a.finish(ctx, db, live, store.OpRollback, at, f.to, f.force)
	if finished || err != nil {
		return err
	}
	// An edit that nobody recorded becomes a version first: rolling back loses
	// nothing.
	if err := a.recordEdits(ctx, db, live, a.recordText); err != nil {
		return err
	}
	plan, to, err := a.planRollback(ctx, db, live, at, named, f.force)
	if err != nil {
		return err
	}
	done, err := a.put(ctx, db, live, store.OpRollback, "rollback", f.force, plan)
	if err != nil {
		return err
	}
	return a.rolledBack(ctx, db, live, to, done, pin)
}

// rolledBack tells what came of a rollback.
func (a *app) rolledBack(ctx context.Context, db *store.Store, live *liveSkill, to *tournament.Version, done []placed, pin *pin) error {
	for i := range done {
		if !done[i].live || !done[i].changed() {
			continue
		}
		a.leaveNote(live.Name, hook.Installed, "v%d (%.12s) was put back in the place of %.12s", to.N, to.SHA, live.doc.Hash())
		if pin != nil { // it stays, on what is live now
			if err := db.PinSkill(ctx, live.Name, done[i].To); err != nil {
				return err
			}
		}
	}
	return a.told(ctx, db, live, store.OpRollback, to, done)
}

// planRollback says what is put where. Without a name it is what the live text
// took the place of, in every target that holds the live text; where the live text
// is the first one, it is what was last put into other targets that is taken back.
// to is the version that most of it is about.
func (a *app) planRollback(ctx context.Context, db *store.Store, live *liveSkill, at string, named []target, force bool) (plan []placing, to *tournament.Version, err error) {
	from := live.doc.Hash()
	targets := named
	if named == nil {
		to, err = a.rollbackTarget(ctx, db, live.Name, from, at)
		elsewhere, newest, e := a.copies(ctx, db, live, from)
		switch {
		case e != nil:
			return nil, nil, e
		case err == nil:
			home, err := a.mainTarget()
			if err != nil {
				return nil, nil, err
			}
			targets = append([]target{home}, elsewhere...)
		case at == "" && len(newest) > 0:
			targets, named = newest, newest
		default:
			return nil, nil, err
		}
	}
	places, err := a.places(ctx, db, live, targets)
	if err != nil {
		return nil, nil, err
	}
	for i := range places {
		p := placing{place: places[i], to: to}
		if err := a.takeBack(ctx, db, live.Name, from, at, &p, named != nil, force); err != nil {
			return nil, nil, err
		}
		if to == nil {
			to = p.to
		}
		plan = append(plan, p)
	}
	if to == nil { // every target loses the skill
		to, err = db.VersionBySHA(ctx, live.Name, from)
	}
	return plan, to, err
}

// takeBack says what is put back at one place. Where it was not named, it has to
// hold the live text.
func (a *app) takeBack(ctx context.Context, db *store.Store, name, live, at string, p *placing, named, force bool) error {
	switch {
	case p.refusal != nil || p.same != "":
		return nil
	case p.held == "":
		p.to = nil // nothing is there, and nothing will be
		return nil
	}
	if named && at != "" {
		to, err := findVersion(ctx, db, name, at)
		if err != nil {
			p.refusal = err
			return nil
		}
		p.to = to
	}
	if (at != "" || !named) && p.to != nil && p.to.SHA == p.held {
		return nil // in place already
	}
	if !p.live {
		if err := a.mayTakeBack(ctx, db, name, &p.place, force); err != nil || p.refusal != nil {
			return err
		}
	}
	if at == "" {
		planted, err := plantedAs(ctx, db, name, p.path, p.held)
		if err != nil {
			return err
		}
		if planted {
			p.to = nil
			return nil
		}
	}
	if !named || at != "" {
		return nil
	}
	to, err := a.rollbackTarget(ctx, db, name, p.held, at)
	if err != nil {
		p.refusal = err
		return nil
	}
	p.to = to
	return nil
}

// mayTakeBack says whether what a target holds may be taken back: what evolve made
// or put there itself. Any other text is its owner's, recorded as a version or not
// yet; it is recorded, and stays unless force says otherwise.
func (a *app) mayTakeBack(ctx context.Context, db *store.Store, name string, p *place, force bool) error {
	last, err := lastInstall(ctx, db, name, p.path)
	if err != nil || last != nil && last.To == p.held {
		return err
	}
	v, err := a.recordEdit(ctx, db, name, p)
	if err != nil || v.Author == "evolve" {
		return err
	}
	if !force {
		p.refusal = refused(fmt.Sprintf("`evolve diff %s v%d` shows it; --force takes it back", name, v.N), "it holds a text of yours, kept as v%d", v.N)
	}
	return nil
}

// plantedAs reports whether evolve put the skill there with this very text, where
// there was nothing before.
func plantedAs(ctx context.Context, db *store.Store, name, path, sha string) (bool, error) {
	if _, planted, err := db.PlantedFiles(ctx, name, path); !planted || err != nil {
		return false, err
	}
	last, err := lastInstall(ctx, db, name, path)
	return last != nil && last.To == sha && last.From == "", err
}

// copies are the other targets that evolve has put the skill into: those with the
// text of this SHA-256, and those with the newest version that any of them has.
func (a *app) copies(ctx context.Context, db *store.Store, live *liveSkill, sha string) (same, newest []target, err error) {
	known, err := db.Places(ctx, live.Name)
	if err != nil {
		return nil, nil, err
	}
	home, err := filepath.EvalSymlinks(live.Path)
	if err != nil {
		return nil, nil, fmt.Errorf("find skill %s: %w", live.Name, err)
	}
	last := -1
	for _, k := range known {
		if k.Path == home {
			continue
		}
		if now, err := hashAt(k.Path); err == nil && now == "" { // its owner removed it
			if err := db.ForgetPlace(ctx, live.Name, k.Path); err != nil {
				return nil, nil, err
			}
			continue
		}
		t := target{a.targetOf(live.Name, k.Path), filepath.Dir(filepath.Dir(k.Path))}
		if last, err := lastInstall(ctx, db, live.Name, k.Path); err != nil {
			return nil, nil, err
		} else if last == nil { // it was found there: there is nothing to take back
			continue
		}
		if k.SHA == sha {
			same = append(same, t)
			continue
		}
		v, err := db.VersionBySHA(ctx, live.Name, k.SHA)
		if err != nil || v.N < last {
			continue
		}
		if v.N > last {
			last, newest = v.N, nil
		}
		newest = append(newest, t)
	}
	return same, newest, nil
}

// rollbackTarget is the named version, else the one that the live text took the
// place of: after an edit of what a rollback had put back, that is not the
// version with the next lower number.
func (a *app) rollbackTarget(ctx context.Context, db *store.Store, name, live, at string) (*tournament.Version, error) {
	if at != "" {
		return findVersion(ctx, db, name, at)
	}
	versions, err := db.Versions(ctx, name)
	if err != nil {
		return nil, err
	}
	current := -1
	for i, v := range versions {
		if v.SHA == live {
			current = i
		}
	}
	if current >= 0 && versions[current].Parent != "" && versions[current].Parent != live {
		to, err := db.VersionBySHA(ctx, name, versions[current].Parent)
		if !errors.Is(err, store.ErrNotFound) {
			return to, err
		}
	}
	for i := current - 1; i >= 0; i-- {
		if versions[i].SHA != live {
			return &versions[i], nil
		}
	}
	return nil, usage(fmt.Sprintf("`evolve log %s` lists the versions", name), "there is no version of %s before the live one", name)
}

// findVersion reads "v3" or "3".
func findVersion(ctx context.Context, db *store.Store, name, at string) (*tournament.Version, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(at, "v"))
	if err != nil {
		return nil, usage("versions are v0, v1, …", "%q is no version", at)
	}
	v, err := db.Version(ctx, name, n)
	if err != nil {
		return nil, usage(fmt.Sprintf("`evolve log %s` lists the versions", name), "%s has no version v%d", name, n)
	}
	return v, nil
}
