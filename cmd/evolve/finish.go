package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
)

// finish deals with what a crash has left of a command: the same one once more
// carries out the rest, a rollback takes back what an interrupted promotion has
// done. finished then says that there is nothing else to do. Any other command
// takes its place.
func (a *app) finish(ctx context.Context, db *store.Store, live *skill.Live, op, at string, to []string, force bool) (finished bool, err error) {
	done, open, err := a.settle(ctx, db, live.Name)
	if err != nil {
		return false, err
	}
	all := append(done, open...)
	if len(all) == 0 || len(to) > 0 {
		return false, nil
	}
	same := !slices.ContainsFunc(all, func(in store.Install) bool { return in.Op != op })
	switch {
	case same:
	case op == store.OpRollback && at == "":
		return true, a.undo(ctx, db, live, all[0], force)
	default:
		return false, nil
	}
	var plan []placing
	v, err := db.VersionBySHA(ctx, live.Name, live.Doc.Hash()) // where every target loses the skill
	for _, in := range all {
		p, e := a.placingOf(ctx, db, live, in, in.To)
		if e != nil {
			return false, e
		}
		if p.refusal == nil && p.held != in.From && p.held != in.To {
			p.refusal = &skill.DriftError{Path: in.Path, Want: in.From, Live: p.held}
		}
		if p.to != nil {
			v, err = p.to, nil
		}
		plan = append(plan, *p)
	}
	if err != nil {
		return false, err
	}
	if at != "" && !strings.HasPrefix(v.SHA, at) && at != fmt.Sprintf("v%d", v.N) {
		return false, nil
	}
	a.Say("finishing the %s that was interrupted", op)
	out, err := a.put(ctx, db, live, op, "finished after an interruption", force, plan)
	if err != nil {
		return true, err
	}
	return true, a.told(ctx, db, live, op, v, out)
}

// placingOf is an install as a placing, with the text of this SHA-256, "" for none.
func (a *app) placingOf(ctx context.Context, db *store.Store, live *skill.Live, in store.Install, sha string) (*placing, error) {
	places, err := a.places(ctx, db, live, []skill.Target{{Name: a.targetOf(live.Name, in.Path), Dir: filepath.Dir(filepath.Dir(in.Path))}})
	if err != nil {
		return nil, err
	}
	p := &placing{place: places[0]}
	if p.refusal == nil && p.path != in.Path {
		p.refusal = fmt.Errorf("%s leads to %s now", in.Path, p.path)
	}
	if sha != "" {
		p.to, err = db.VersionBySHA(ctx, live.Name, sha)
	}
	return p, err
}

// undo takes back what an interrupted promotion has put in place, and gives up
// the rest. What was written down together has one beginning.
func (a *app) undo(ctx context.Context, db *store.Store, live *skill.Live, of store.Install, force bool) error {
	installs, err := db.Installs(ctx, live.Name)
	if err != nil {
		return err
	}
	var plan []placing
	var v *tournament.Version
	for _, in := range installs {
		if !in.Begun.Equal(of.Begun) || in.Op != of.Op || in.Outcome != wasInstalled {
			continue
		}
		p, err := a.placingOf(ctx, db, live, in, in.From)
		if err != nil {
			return err
		}
		if p.refusal == nil && p.held != in.To {
			p.refusal = &skill.DriftError{Path: in.Path, Want: in.To, Live: p.held}
		}
		if p.to != nil {
			v = p.to
		}
		plan = append(plan, *p)
	}
	a.Say("taking back the %s that was interrupted", of.Op)
	done, err := a.put(ctx, db, live, store.OpRollback, "rollback", force, plan)
	if err != nil {
		return err
	}
	if v == nil {
		if v, err = db.VersionBySHA(ctx, live.Name, live.Doc.Hash()); err != nil {
			return err
		}
	}
	return a.told(ctx, db, live, store.OpRollback, v, done)
}
