package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/spf13/cobra"
)

func newPinCommand(a *global) *cobra.Command {
	var off bool
	c := &cobra.Command{
		Use:   "pin SKILL[@vN]",
		Short: "Leave a skill as it is: runs, nights and promote skip it",
		Long: `pin keeps a skill as it is until --off: runs of it are refused before anything
is spent, nights skip it, and promote and rollback refuse to change it. With @vN
the skill is pinned only if that version is the live one. You can still edit it
by hand.`,
		Example: "  evolve pin dataviz\n  evolve pin dataviz@v2\n  evolve pin --off dataviz",
		Args:    exactArgs(1, "a skill"),
		RunE:    func(c *cobra.Command, args []string) error { return pinSkill(c.Context(), a, args[0], off) },
	}
	c.Flags().BoolVar(&off, "off", false, "take the pin off")
	return c
}

func pinSkill(ctx context.Context, a *global, arg string, off bool) error {
	name, at := subject.Cut(arg)
	live, err := a.layout().Live(name)
	var unknown *skill.UnknownSkillError
	switch {
	case err == nil:
	case !off:
		return err
	case errors.As(err, &unknown): // the pin of a skill that is gone can be taken off
		db, e := a.existingStore(ctx)
		if e != nil {
			return e
		}
		if db == nil {
			return err
		}
		if p, e := db.Pinned(ctx, name); e != nil || p == nil {
			return errors.Join(err, e)
		}
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	if off {
		if at != "" {
			return problem.Inputf("evolve pin --off "+name, "a pin belongs to the skill, not to a version")
		}
		was, err := db.UnpinSkill(ctx, name)
		if err != nil {
			return err
		}
		words := "%s is no longer pinned\n"
		if !was {
			words = "%s was not pinned\n"
		}
		return sayPinned(a, name, nil, fmt.Sprintf(words, name))
	}
	in, err := a.installer(db)
	if err != nil {
		return err
	}
	if err := in.Record(ctx, live); err != nil {
		return err
	}
	if at != "" {
		v, err := candidate.FindVersion(ctx, db, name, at)
		if err != nil {
			return err
		}
		if v.SHA != live.Doc.Hash() {
			return problem.Inputf(fmt.Sprintf("`evolve rollback %s@v%d` puts it in place first", name, v.N), "v%d is not the live version of %s", v.N, name)
		}
	}
	if err := db.PinSkill(ctx, name, live.Doc.Hash()); err != nil {
		return err
	}
	p, err := release.Pinned(ctx, db, name)
	if err != nil {
		return err
	}
	return sayPinned(a, name, p, fmt.Sprintf("%s is %v: runs, nights and promote pass it by\nnext: `evolve pin --off %[1]s` takes the pin off\n", name, p))
}

// sayPinned prints whether a skill is pinned now.
func sayPinned(a *global, name string, p *release.Pin, words string) error {
	out := map[string]any{"schema": 1, "skill": name, "pinned": p != nil}
	if p != nil {
		out["sha256"], out["version"] = p.SHA, p.Version
	}
	return a.Print(out, words)
}
