package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/purge"
	"github.com/skill-evolve/evolve/store"
)

func purgeSessions(ctx context.Context, a *global, names []string, f sessionFlags) error {
	bySelection := f.all || f.skill != "" || f.olderThan != "" || f.project != ""
	switch {
	case len(names) == 0 && !bySelection:
		return problem.Inputf("`evolve sessions list` names them; or --older-than 90d, --skill NAME, --project PATH, --all", "evolve sessions purge needs sessions")
	case len(names) > 0 && bySelection:
		return problem.Inputf("leave out the names, or --all, --skill, --project and --older-than", "sessions are named and selected at once")
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	ids, err := toPurge(ctx, a, db, names, f)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		if a.JSON {
			none := purge.ResultOf(store.PurgeReport{})
			none.Schema = 1
			return a.PrintJSON(none)
		}
		_, err := fmt.Fprintln(a.Stdout, "no session is stored that fits: nothing was removed")
		return err
	}
	p, err := purgerOf(a, db)
	if err != nil {
		return err
	}
	plan, err := p.Plan(ctx, ids)
	if err != nil {
		return err
	}
	if !f.yes {
		ok, err := a.Confirm(fmt.Sprintf("Remove %s: %s. This cannot be undone. Continue?", plain.Counted(len(ids), "session"), removes(plan.Removes)))
		if err != nil {
			return err
		}
		if !ok {
			return problem.Refusef("use --yes to remove them", "%s would be removed: %s", plain.Counted(len(ids), "session"), removes(plan.Removes))
		}
	}
	done, err := p.Apply(ctx, plan)
	if err != nil {
		return err
	}
	return printPurged(a, done)
}

// purgerOf purges sessions of a store.
func purgerOf(a *global, db *store.Store) (*purge.Purger, error) {
	home, err := a.home()
	if err != nil {
		return nil, err
	}
	locks, err := a.locks()
	return &purge.Purger{Store: db, Dir: home, Locks: locks, Now: a.Now, Say: a.Say, Elsewhere: fleetOf(a).Purge,
		Report: func(ctx context.Context, run string) (string, error) { return writeReport(ctx, a, db, run) }}, err
}

// toPurge returns the ids of the sessions that are named or selected. A
// purged session is known by its whole id alone: purging it again finishes an
// interrupted purge.
func toPurge(ctx context.Context, a *global, db *store.Store, names []string, f sessionFlags) (ids []string, err error) {
	for _, name := range names {
		before, err := db.Purged(ctx, name)
		if err != nil {
			return nil, err
		}
		id := name
		if !before {
			if id, err = sessionID(ctx, db, name); err != nil {
				return nil, err
			}
		}
		ids = append(ids, id)
	}
	if len(names) == 0 {
		sessions, err := selectedSessions(ctx, a, db, f)
		if err != nil {
			return nil, err
		}
		for _, s := range sessions {
			ids = append(ids, s.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

func printPurged(a *global, p *purge.Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s purged: %s\n", plain.Counted(len(p.Sessions), "session"), removes(p.Removed))
	if p.Trials > 0 {
		fmt.Fprintf(&b, "  trials    %s on the removed texts ended\n", plain.Counted(p.Trials, "trial"))
	}
	for _, f := range p.Files {
		fmt.Fprintf(&b, "  removed   %s\n", plain.Text(f))
	}
	for _, f := range p.Reports {
		fmt.Fprintf(&b, "  made anew %s\n", plain.Text(f))
	}
	for _, v := range p.Versions {
		fmt.Fprintf(&b, "  learned   %s v%d (%.12s) learned from it and stays: `evolve rollback %s` takes a version back\n", plain.Text(v.Skill), v.Version, v.SHA, plain.Text(v.Skill))
	}
	for _, f := range p.Elsewhere {
		fmt.Fprintf(&b, "  fleet     %s\n", plain.Text(f))
	}
	for _, f := range p.Left {
		fmt.Fprintf(&b, "  left      %s may hold it too, and is yours to remove\n", plain.Text(f))
	}
	b.WriteString("the agents' own transcripts were not touched; the next harvest leaves these sessions out\n")
	return a.Print(p, b.String())
}
