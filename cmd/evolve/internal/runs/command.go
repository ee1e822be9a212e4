// Package runs is the command that lists runs.
package runs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/usage"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/pareto"
	"github.com/skill-evolve/evolve/tournament/candidate"
	"github.com/skill-evolve/evolve/tournament/record"
	"github.com/skill-evolve/evolve/tournament/status"
	"github.com/spf13/cobra"
)

// newest is how many runs are listed without --all.
const newest = 20

// A List is what `evolve runs --json` prints: schema 1.
type List struct {
	Schema int   `json:"schema"`
	Runs   []Run `json:"runs"` // the newest first
	Left   int   `json:"left_out"`
}

// A Run is one line of the list.
type Run struct {
	Run       string           `json:"run"`
	Skill     string           `json:"skill"`
	Status    record.RunStatus `json:"status"`
	Verdict   string           `json:"verdict,omitempty"` // proved, promising or no sign; "" without a trial
	answer    string           // the verdict in words
	Spent     eval.Spent       `json:"spent"`
	Simulated bool             `json:"simulated"`
	Started   time.Time        `json:"started"`
}

// Command is `evolve runs`; open opens the store and its reader.
func Command(t *term.Terminal, open func(context.Context) (*status.Reader, error)) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "runs [SKILL]",
		Short: "List the runs: what came of each, and its cost",
		Long: `runs lists the runs of all skills, or of one. A run that was interrupted, killed or
stopped by a limit continues with ` + "`evolve --resume RUN`" + `.`,
		Example: "  evolve runs\n  evolve runs dataviz --all",
		Args:    usage.AtMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			rd, err := open(c.Context())
			if err != nil {
				return err
			}
			l, err := listOf(c.Context(), rd, strings.Join(args, ""), all)
			if err != nil {
				return err
			}
			if t.JSON {
				return t.PrintJSON(l)
			}
			return l.print(t)
		},
	}
	c.Flags().BoolVar(&all, "all", false, fmt.Sprintf("every run, not the newest %d alone", newest))
	return c
}

func listOf(ctx context.Context, rd *status.Reader, skill string, all bool) (*List, error) {
	runs, err := rd.Store.Runs(ctx, skill)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 && skill != "" {
		if _, err := rd.Layout.Live(skill); err != nil {
			return nil, err
		}
	}
	l := &List{Schema: 1, Runs: []Run{}}
	for i := range runs {
		r := &runs[i]
		if !all && len(l.Runs) == newest {
			l.Left = len(runs) - newest
			break
		}
		k := Run{Run: r.ID, Skill: r.Skill, Spent: r.Spent, Simulated: r.Simulated, Started: r.Started}
		if k.Status, err = rd.RunStatus(r); err != nil {
			return nil, err
		}
		v, err := candidate.VerdictOf(r.Verdict)
		if err != nil {
			return nil, err
		}
		if v != nil {
			k.Verdict, k.answer = "no sign", pareto.Answer(v.Verdict, v.Route)
			switch v.Verdict {
			case pareto.Promote:
				k.Verdict = "proved"
			case pareto.Promising:
				k.Verdict = "promising"
			}
		}
		l.Runs = append(l.Runs, k)
	}
	return l, nil
}

func (l *List) print(t *term.Terminal) error {
	if len(l.Runs) == 0 {
		return t.Show("no run yet: `evolve run SKILL` begins one\n")
	}
	table := t.NewTable(t.Stdout)
	fmt.Fprintln(table, "RUN\tSKILL\tSTARTED\tSTATE\tRESULT\tCOST")
	for _, r := range l.Runs {
		result := r.answer
		if result == "" {
			result = "-"
		}
		if r.Simulated {
			result += ", SIMULATED"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Run, plain.Line(subject.Parse(r.Skill).Text()), r.Started.Local().Format(time.DateOnly),
			r.Status, result, r.Spent.Dollars())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if l.Left > 0 {
		fmt.Fprintf(t.Stdout, "%s older: --all lists them\n", plain.Counted(l.Left, "run"))
	}
	_, err := fmt.Fprintln(t.Stdout, "next: `evolve report RUN` shows one, `evolve log --run RUN` what it did")
	return err
}
