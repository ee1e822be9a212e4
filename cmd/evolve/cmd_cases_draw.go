package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/spf13/cobra"
)

func newCasesDrawCommand(a *global) *cobra.Command {
	return &cobra.Command{
		Use:   "draw INSTRUCTIONS PERCENT",
		Short: "Choose how many requests become cases of an instructions file",
		Long: `draw sets the share of the requests in which an instructions file was loaded that
a coin draws to become cases, at most 50 percent. The first harvest sets it so that
a quarter brings about 60 cases at your pace. Every replay costs, so draw what you
can afford. The coin falls alike for what you corrected, accepted and passed over,
and again alike at every harvest; a greater share adds requests to those before.`,
		Example: "  evolve cases draw ~/.claude/CLAUDE.md 20",
		Args:    exactArgs(2, "a file and a percentage"),
		RunE: func(c *cobra.Command, args []string) error {
			share, err := strconv.ParseFloat(strings.TrimSuffix(args[1], "%"), 64)
			if err != nil {
				return problem.Inputf("for example 20", "%q is no percentage", plain.Line(args[1]))
			}
			g, err := casesOf(c.Context(), a)
			if err != nil {
				return err
			}
			d, err := g.Afford(c.Context(), args[0], share/100)
			if err != nil {
				return err
			}
			return a.Print(d, fmt.Sprintf("%s: a coin draws %s of the requests from the next harvest on\nnext: `evolve harvest`\n", subject.Parse(args[0]).Text(), d.Percent()))
		},
	}
}
