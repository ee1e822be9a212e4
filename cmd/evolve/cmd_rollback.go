package main

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/release/tracked"
	"github.com/spf13/cobra"
)

// rollbackFlags are the choices of evolve rollback.
type rollbackFlags struct {
	to    []string
	force bool
}

func newRollbackCommand(a *global) *cobra.Command {
	var f rollbackFlags
	c := &cobra.Command{
		Use:   "rollback SKILL[@vN]",
		Short: "Restore the version before the live one, or the named one",
		Long: `rollback restores the version that the live version replaced, or the version
behind the @, in every target where the live version is installed; --to names
other targets. A copy that evolve put into a target without such a skill is
removed again, unless it was changed. An edit by hand becomes a version first,
so nothing is lost. Another rollback goes one step further back. Rejected
versions are skipped; to restore one, name it and add --force. Of a file that
git tracks it takes back what promote put into the working tree, or the branch
that promote made, unless somebody has changed it since.`,
		Example: "  evolve rollback dataviz\n  evolve rollback dataviz@v0\n  evolve rollback dataviz --to codex",
		Args:    exactArgs(1, "a skill"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := namesTarget(c, f.to); err != nil {
				return err
			}
			return rollbackSkill(c.Context(), a, args[0], f)
		},
	}
	toFlag(c.Flags(), &f.to, "where to put it back")
	c.Flags().BoolVar(&f.force, "force", false, "also if the skill is pinned, if a target holds an edit (it is kept as a version), or if the version was rejected")
	return c
}

func rollbackSkill(ctx context.Context, a *global, arg string, f rollbackFlags) error {
	name, at := subject.Cut(arg)
	word := hookWord(a)
	if err := word.PutBack(name); err != nil {
		return err
	}
	live, err := a.layout().AsItIs(name)
	if err != nil {
		return err
	}
	r := release.Request{At: at, Force: f.force}
	if len(f.to) > 0 { // the configuration has the targets of new versions, not the present places
		if r.To, err = a.layout().Targets(name, f.to); err != nil {
			return err
		}
	}
	if live.Tracked && r.To == nil {
		return rollbackTracked(ctx, a, live, at, f.force)
	}
	in, plan, err := nextPlan(ctx, a, live, store.OpRollback, r)
	if err != nil {
		return err
	}
	done, err := in.Apply(ctx, plan)
	if err != nil {
		return err
	}
	word.Uncalled(done)
	return printPlaced(a, done)
}

// rollbackTracked is rollbackSkill for a file that git tracks.
func rollbackTracked(ctx context.Context, a *global, live *skill.Live, at string, force bool) error {
	if at != "" {
		return problem.Inputf(fmt.Sprintf("`evolve promote %s@%s` puts that text into your working tree", live.Name, at), "git tracks %s: only what promote did last is taken back", live.Path)
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	in, err := a.installer(db)
	if err != nil {
		return err
	}
	done, err := tracked.Rollback(ctx, in, live, force)
	if err != nil {
		return err
	}
	return a.Print(map[string]any{"schema": 1, "skill": live.Name, "done": done}, fmt.Sprintf("%s: %s\n", live.Name, plain.Text(done)))
}
