package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/problem"
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
their name), live, or challenger. Without names it compares the live text with the
challenger, or where there is none the version before with the live text; with one,
a version with the live text, or the live text with a candidate. Lines that begin
with = are kernel, which evolve cannot change.`,
		Example: "  evolve diff dataviz\n  evolve diff dataviz@1597ed\n  evolve diff dataviz@v0 dataviz@v2\n  evolve diff dataviz --patch > challenger.patch",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 3 {
				return problem.Inputf("usage: "+c.UseLine(), "%s needs a skill, and at most two texts of it", c.CommandPath())
			}
			return runDiff(c.Context(), a, args, patch)
		},
	}
	c.Flags().BoolVar(&patch, "patch", false, "print it as patch(1) reads it: no marks, no colour")
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
	name, old, new, err := twoTexts(ctx, a, args)
	if err != nil {
		return err
	}
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

// twoTexts reads the texts of a skill that the arguments of diff name.
func twoTexts(ctx context.Context, a *global, args []string) (name string, old, new *candidate.Text, err error) {
	name, at, _ := strings.Cut(args[0], "@")
	names, err := candidate.SameSkill(name, args[1:])
	if err != nil {
		return "", nil, nil, err
	}
	if at != "" {
		names = append([]string{at}, names...)
	}
	s, err := openTexts(ctx, a, name)
	if err != nil {
		return "", nil, nil, err
	}
	if old, new, err = s.Pair(ctx, names); err != nil {
		return "", nil, nil, err
	}
	if old.Doc == nil || new.Doc == nil {
		return "", nil, nil, problem.Inputf("`evolve compare` runs the arm without a skill", "there is no text to compare with where there is no skill")
	}
	return name, old, new, nil
}
