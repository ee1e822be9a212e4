package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/spf13/cobra"
)

func newDiffCommand(a *app) *cobra.Command {
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
			return a.diff(c.Context(), args, patch)
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

func (a *app) diff(ctx context.Context, args []string, patch bool) error {
	name, at, _ := strings.Cut(args[0], "@")
	names, err := sameSkill(name, args[1:])
	if err != nil {
		return err
	}
	if at != "" {
		names = append([]string{at}, names...)
	}
	s, err := a.texts(ctx, name)
	if err != nil {
		return err
	}
	old, new, err := s.pair(ctx, names)
	if err != nil {
		return err
	}
	if old.doc == nil || new.doc == nil {
		return problem.Inputf("`evolve compare` runs the arm without a skill", "there is no text to compare with where there is no skill")
	}
	if patch {
		_, err := fmt.Fprint(a.Stdout, report.Patch(old.label, new.label, old.doc, new.doc))
		return err
	}
	d, err := report.Between(old.label, new.label, old.doc, new.doc)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(diffResult{1, name, old.sha(), new.sha(), d})
	}
	_, err = fmt.Fprint(a.Stdout, d.Text(term.IsTerminal(a.Stdout) && a.Getenv("NO_COLOR") == ""))
	return err
}

// sameSkill takes the skill off names such as dataviz@v2, which is dataviz' v2 after
// dataviz alone. Texts of two skills are not compared.
func sameSkill(name string, args []string) (names []string, err error) {
	for _, arg := range args {
		of, at, ok := strings.Cut(arg, "@")
		switch {
		case !ok:
			at = arg
		case of != name:
			return nil, problem.Inputf(fmt.Sprintf("`evolve diff %s@v0 %[1]s@v1`", name), "%s and %s are two skills: texts of one are compared", name, of)
		case at == "":
			at = "live"
		}
		names = append(names, at)
	}
	return names, nil
}

// pair reads zero to two names of texts: the live text with the newest
// challenger (once that is installed, what was there before with the live text), a
// named version with the live text or the live text with a named candidate, or the
// two named.
func (s *skillTexts) pair(ctx context.Context, names []string) (old, new *namedText, err error) {
	switch len(names) {
	case 0:
		if new, err = s.newest(ctx); err != nil {
			return nil, nil, err
		}
		if old, err = s.find(ctx, "live"); err != nil {
			return nil, nil, err
		}
		if new != nil && new.sha() != old.sha() {
			return old, new, nil
		}
		if v := old.version; v != nil && s.versionOf(v.Parent) != nil {
			before, err := s.find(ctx, fmt.Sprintf("v%d", s.versionOf(v.Parent).N))
			return before, old, err
		}
		if new == nil {
			return nil, nil, problem.Inputf(fmt.Sprintf("`evolve --skill %s` looks for one; `evolve log %s` lists what there is", s.name, s.name), "%s has no challenger", s.name)
		}
	case 1:
		if new, err = s.find(ctx, names[0]); err == nil {
			old, err = s.find(ctx, "live")
		}
		if err == nil && new.version != nil { // what has become of it, as in git diff v0
			old, new = new, old
		}
	case 2:
		if old, err = s.find(ctx, names[0]); err == nil {
			new, err = s.find(ctx, names[1])
		}
	default:
		return nil, nil, problem.Inputf("name at most two texts", "%d texts cannot be compared", len(names))
	}
	if err != nil {
		return nil, nil, err
	}
	return old, new, nil
}
