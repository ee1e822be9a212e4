package main

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/spf13/cobra"
)

func newStatusCommand(a *global) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:     "status",
		Short:   "All skills on one page, and what waits for you",
		Example: "  evolve status\n  evolve status --json",
		Long: `status shows what waits for you first, then the skills by use, and hooks that
evolve knows a text of. Skills without news are folded into one line. USES counts the invocations in sessions that a
person had, each once. CORRECTED counts those that the user corrected in the
next message. Of a new text on trial, "no difference seen" means that it
may be better or not, "probably better" that by chance a text comes as far at
most 1 time in 4, and "better" that it does at most 1 time in 20. "14/40 cases"
is how many cases it has, and about how many it needs at this rate. "but cost
beyond tolerance" means that the quality is better, and the cost holds it back.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runStatus(c.Context(), a, all) },
	}
	c.Flags().BoolVar(&all, "all", false, "list the skills without news too")
	return c
}

func runStatus(ctx context.Context, a *global, all bool) error {
	r, err := gatherStatus(ctx, a)
	if err != nil {
		return err
	}
	if _, err := a.config(); err != nil { // what it lists is true all the same; nothing else will work
		_, hint := problem.Of(err)
		defer a.Warn([]string{fmt.Sprintf("%v; %s", err, hint)})
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	if r.Empty() {
		return firstSteps(a, 0, r.SkillsDir)
	}
	return a.Show(r.Text(terminalWidth(a), all))
}
