package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func newStatusCommand(a *global) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "status",
		Short: "All skills on one page: uses, corrections, version, challenger, what waits for you",
		Long: `status shows what waits for you first, then the skills by use; those without news are
folded into one line. USES counts the invocations in sessions that a person had, each
once; CORRECTED those of them that the user corrected next, as harvest counts them.
"e 6.1 of 25" is the evidence for a challenger and what proves it,
"14/40 cases" how many it has seen of about how many that takes at this rate. "but cost
open": quality is proved, and that cost is within its tolerance is not yet.`,
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
	if a.JSON {
		return a.PrintJSON(r)
	}
	if r.Empty() {
		return firstSteps(a, 0, r.SkillsDir)
	}
	_, err = fmt.Fprint(a.Stdout, r.Text(terminalWidth(a), all))
	return err
}
