package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/spf13/cobra"
)

func newRollbackCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "rollback SKILL[@vN]",
		Short:   "Put the version before the live one back, or the named one",
		Example: "  evolve rollback dataviz\n  evolve rollback dataviz@v0",
		Args:    exactArgs(1, "a skill"),
		RunE:    func(c *cobra.Command, args []string) error { return a.rollback(c.Context(), args[0]) },
	}
}

func (a *app) rollback(ctx context.Context, arg string) error {
	name, at, _ := strings.Cut(arg, "@")
	live, err := a.skillAsItIs(name)
	if err != nil {
		return err
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	// An edit that nobody recorded becomes a version first: rolling back loses
	// nothing.
	if err := a.recordLive(ctx, db, live); err != nil {
		return err
	}
	to, err := a.rollbackTarget(ctx, db, name, live.doc.Hash(), at)
	if err != nil {
		return err
	}
	to.Note = "rollback"
	if err := a.install(ctx, db, live, live.doc.Hash(), *to); err != nil {
		return err
	}
	a.leaveNote(name, hook.Installed, "v%d (%.12s) was put back in the place of %.12s", to.N, to.SHA, live.doc.Hash())
	return a.installedResult(live, *to, live.doc.Hash())
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
