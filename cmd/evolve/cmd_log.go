package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/usage"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/skill-evolve/evolve/tournament/status"
	"github.com/spf13/cobra"
)

func newLogCommand(a *global) *cobra.Command {
	var run string
	var all bool
	c := &cobra.Command{
		Use:   "log SKILL|--run RUN",
		Short: "List a skill's versions, or a run's events",
		Long: `log lists the versions of a skill, the newest first ("*" is the live one): who made each
and FROM which version, the evidence that it was installed on, what its run cost, how many cases and
sessions taught it, and which targets hold it; above them the candidates on trial.
With --run it lists what one run did, in order; with a skill, a run of that skill.`,
		Example: "  evolve log dataviz\n  evolve log dataviz --all\n  evolve log --run last --json",
		Args:    usage.AtMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case run != "":
				return logRun(c.Context(), a, run, strings.Join(args, ""))
			case len(args) == 1:
				return logSkill(c.Context(), a, args[0], all)
			}
			return problem.Inputf("usage: evolve log SKILL, or evolve log --run RUN", "evolve log needs a skill or --run")
		},
	}
	c.Flags().StringVar(&run, "run", "", "list the events of this run (\"last\" is the newest)")
	c.Flags().BoolVar(&all, "all", false, fmt.Sprintf("every version, not the newest %d alone", status.LogNewest))
	return c
}

// RunLog is what `evolve log --run RUN --json` prints: schema 1.
type RunLog struct {
	Schema    int           `json:"schema"`
	Run       string        `json:"run"`
	Skill     string        `json:"skill"`
	Status    string        `json:"status"`
	Simulated bool          `json:"simulated"`
	Events    []report.Step `json:"events"`
}

// logRun prints the events of a run; of is the skill that it must be of, "" for any.
func logRun(ctx context.Context, a *global, name, of string) error {
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	rd, err := a.reader(db)
	if err != nil {
		return err
	}
	if name == "last" && of != "" {
		name = of
	}
	if name, err = rd.FindRun(ctx, name); err != nil {
		return err
	}
	run, err := db.Run(ctx, name)
	if err != nil {
		return err
	}
	if of != "" && run.Skill != of {
		return problem.Inputf("`evolve runs "+of+"` lists those of "+of, "run %s is of %s, not of %s", run.ID, run.Skill, of)
	}
	events, err := db.Events(ctx, run.ID)
	if err != nil {
		return err
	}
	status, err := rd.RunStatus(run)
	if err != nil {
		return err
	}
	l := RunLog{1, run.ID, run.Skill, string(status), run.Simulated, report.Timeline(events)}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: run %s, %s%s\n", l.Skill, l.Run, l.Status, simulatedMark(l.Simulated))
	hook := subject.Parse(l.Skill).Kind == subject.Hook // it has no rollouts
	if !hook {
		fmt.Fprintf(&b, "%9s  %5s\n", "rollouts", "best")
	}
	for _, e := range l.Events {
		if hook {
			fmt.Fprintf(&b, "  %s\n", plain.Text(e.Text))
			continue
		}
		best := "-"
		if e.Best != nil {
			best = fmt.Sprintf("%.2f", *e.Best)
		}
		fmt.Fprintf(&b, "%9d  %5s  %s\n", e.Rollouts, best, plain.Text(e.Text))
	}
	return a.Print(l, b.String())
}

func simulatedMark(simulated bool) string {
	if simulated {
		return " (SIMULATED)"
	}
	return ""
}

func logSkill(ctx context.Context, a *global, name string, all bool) error {
	s, err := openTexts(ctx, a, name)
	if err != nil {
		return err
	}
	l, err := status.LogOf(ctx, s, a.Now(), func(path string) string { return a.layout().TargetOf(name, path) })
	if err != nil {
		return err
	}
	rd, err := a.reader(s.Store)
	if err != nil {
		return err
	}
	for i := range l.Candidates {
		if err := rd.Offer(ctx, s, &l.Candidates[i]); err != nil {
			return err
		}
	}
	newest := status.LogNewest
	if all {
		newest = 0
	}
	return a.Print(l, l.Text(newest, terminalWidth(a)))
}
