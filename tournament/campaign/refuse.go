package campaign

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/tournament/release"
)

// refuseHook refuses a hook, whose runs ask no agent: see tournament/hooks.
func refuseHook(name string) error {
	if subject.Parse(name).Kind != subject.Hook {
		return nil
	}
	return problem.Inputf(fmt.Sprintf("`evolve --skill %s` searches, and goes on where it was interrupted", name), "%s is a hook: only its recorded calls are replayed", skill.Called(name))
}

// refusePinned refuses a run of a pinned skill before anything is spent.
func (r *Runner) refusePinned(ctx context.Context, name string) error {
	db, err := r.Existing(ctx)
	if db == nil || err != nil {
		return err
	}
	p, err := release.Pinned(ctx, db, name)
	if p == nil || err != nil {
		return err
	}
	return problem.Refusef(fmt.Sprintf("`evolve pin --off %s` takes the pin off", name), "%s is %v: nothing was spent", name, p)
}

// refuseManaged refuses to spend on a skill of which no version could be
// installed: another program manages it, here and in every target of to.
func (r *Runner) refuseManaged(ctx context.Context, live *skill.Live, to []string, noGate bool) error {
	if !live.Managed {
		return nil
	}
	whose := fmt.Sprintf("%s %s", skill.Called(live.Name), skill.Keeper(live.Entry))
	if noGate {
		r.Say("%s: what is found stays in the store, and could be installed nowhere", whose)
		return nil
	}
	targets, err := r.Layout.Targets(live.Name, to)
	if err != nil {
		return err
	}
	db, err := r.Store(ctx)
	if err != nil {
		return err
	}
	if may, err := r.Installer(db).MayWrite(ctx, live, targets); may || err != nil {
		return err
	}
	if live.Doc.Options().Instructions {
		return problem.Refusef("evolve a file of your own; --no-gate only searches", "%s: no version of it would last, and nothing was spent", whose)
	}
	return problem.Refusef("copy its folder to one of your own, with another name, and evolve that; --promote --to installs in another agent's folder; --no-gate only searches",
		"%s: no version of it would last, and nothing was spent", whose)
}
