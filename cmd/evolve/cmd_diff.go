package main

import (
	"context"
	"fmt"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/spf13/cobra"
)

func newDiffCommand(a *global) *cobra.Command {
	var patch bool
	c := &cobra.Command{
		Use:   "diff SKILL[@A] [SKILL@B|[A] B]",
		Short: "Compare two texts of a skill line by line",
		Long: `diff compares two texts of a skill: versions (v0), candidates (the beginning of
their name), live, or challenger (the new text that waits). Without names it
compares the live text with the new text or, if none waits, the previous version
with the live text.
With one name it compares that version with the live text, or the live text with
that candidate. Lines that begin with = are locked: evolve cannot change them.`,
		Example: "  evolve diff dataviz\n  evolve diff dataviz@1597ed\n  evolve diff dataviz@v0 dataviz@v2\n  evolve diff dataviz --patch > new.patch",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 3 {
				return problem.Inputf("usage: "+c.UseLine(), "%s needs a skill, and at most two texts of it", c.CommandPath())
			}
			return runDiff(c.Context(), a, args, patch)
		},
	}
	c.Flags().BoolVar(&patch, "patch", false, "print the diff for patch(1): no marks, no colour")
	return c
}

// diffResult is what `evolve diff --json` prints: schema 1.
type diffResult struct {
	Schema int    `json:"schema"`
	Skill  string `json:"skill"`
	A      string `json:"a_sha256"`
	B      string `json:"b_sha256"`
	*report.Diff
}

func runDiff(ctx context.Context, a *global, args []string, patch bool) error {
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	old, new, err := candidate.Two(ctx, db, a.layout(), args)
	if err != nil {
		return err
	}
	name, _ := subject.Cut(args[0])
	if patch {
		_, err := fmt.Fprint(a.Stdout, report.Patch(old.Label, new.Label, old.Doc, new.Doc))
		return err
	}
	d, err := report.Between(old.Label, new.Label, old.Doc, new.Doc)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(diffResult{1, name, old.SHA(), new.SHA(), d})
	}
	_, err = fmt.Fprint(a.Stdout, d.Text(term.IsTerminal(a.Stdout) && a.Getenv("NO_COLOR") == ""))
	return err
}
