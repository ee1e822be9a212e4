package main

import (
	"context"

	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/spf13/cobra"
)

func newTryCommand(a *global) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "try SKILL[@CANDIDATE|@vN]",
		Short: "Trial install: put a text in place while its trial goes on",
		Long: `try makes a trial install: it puts the new text that waits, one that is probably
better first, or the candidate or version behind the @ where the skill is now,
before its trial has decided. The trial goes on: its requests are still answered
with and without the change. If it is better, it stays. It is taken back when it is shown worse,
when its trial is rejected, or after 8 undecided weeks; rollback takes it back
at once, promote keeps it. Your edits go into the text from before, and end it.
There is no trial install of a hook.`,
		Example: "  evolve try dataviz\n  evolve try dataviz@3f2a9c\n  evolve try dataviz@v2 --yes",
		Args:    exactArgs(1, "a skill"),
		RunE:    func(c *cobra.Command, args []string) error { return trySkill(c.Context(), a, args[0], yes) },
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func trySkill(ctx context.Context, a *global, arg string, yes bool) error {
	name, at := subject.Cut(arg)
	live, err := a.layout().Live(name)
	if err != nil {
		return err
	}
	in, plan, err := nextPlan(ctx, a, live, store.OpTry, release.Request{At: at})
	if err != nil {
		return err
	}
	if !plan.Rest {
		odds, err := plan.Odds()
		if err != nil {
			return err
		}
		a.Say("%s", odds)
		if err := sayLacks(a, live); err != nil {
			return err
		}
		if err := agreeToTry(a, plan, yes); err != nil {
			return err
		}
	}
	done, err := in.Apply(ctx, plan)
	if err != nil {
		return err
	}
	return printPlaced(a, done)
}

func agreeToTry(a *global, p *release.Plan, yes bool) error {
	if yes {
		return nil
	}
	for _, line := range p.Said { // recorded already, whatever the answer is
		a.Say("%s", line)
	}
	p.Said = nil
	ok, err := a.Confirm("Put it in place as a trial install?")
	if err == nil && !ok {
		err = p.Declined()
	}
	return err
}
