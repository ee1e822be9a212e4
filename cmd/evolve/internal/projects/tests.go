package projects

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/suite"
	"github.com/skill-evolve/evolve/store"
	"github.com/spf13/cobra"
)

// maxProposed is how many commands are proposed of a project; --json has all.
const maxProposed = 8

func testsCommand(desk func() *Desk) *cobra.Command {
	var confirm, drop string
	c := &cobra.Command{
		Use:   "tests [PATH]",
		Short: "Which test commands may grade an agent's work in a project: list, confirm and drop them",
		Long: `tests lists the test commands that your agents ran in a project (default: the
current folder's), and those that you confirmed. Cases of requests about tests are
graded by a confirmed command: it runs in the sandbox, in the folder that the agent
leaves, and has to exit with 0. Without --confirm none runs.`,
		Example: "  evolve projects tests\n  evolve projects tests ~/shop --confirm 'go test ./...'\n  evolve projects tests ~/shop --drop 'go test ./...'",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			folder := "."
			if len(args) > 0 {
				folder = args[0]
			}
			return desk().tests(c.Context(), folder, confirm, drop)
		},
	}
	c.Flags().StringVar(&confirm, "confirm", "", "let this `COMMAND` grade cases of the project")
	c.Flags().StringVar(&drop, "drop", "", "take this `COMMAND` off the list")
	c.MarkFlagsMutuallyExclusive("confirm", "drop")
	return c
}

// A listed test command is one that is confirmed, or that agents ran.
type listed struct {
	suite.Proposal
	Confirmed bool `json:"confirmed"`
}

func (d *Desk) tests(ctx context.Context, folder, confirm, drop string) error {
	at, err := filepath.Abs(folder)
	if err != nil {
		return problem.Inputf("name a folder", "%q is no folder", folder)
	}
	if info, err := os.Stat(at); drop == "" && (err != nil || !info.IsDir()) {
		return problem.Inputf("name the project's folder", "%s is no folder", plain.Line(folder))
	}
	switch {
	case confirm != "":
		if _, err := consent.Argv(confirm); err != nil {
			return problem.Inputf("it runs without a shell: for more than one command confirm a script, for example `sh test.sh`", "%q cannot be confirmed: %v", confirm, err)
		}
		err = d.update(func(all *consent.Decisions) error { all.Confirm(at, confirm); return nil })
	case drop != "":
		err = d.update(func(all *consent.Decisions) error {
			if !all.Drop(at, drop) {
				return problem.Inputf("`evolve projects tests` lists them", "%q is not confirmed for %s", drop, plain.Line(all.Project(at)))
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	all, _, err := d.decisions()
	if err != nil {
		return err
	}
	project := all.Project(at)
	list, err := d.testsOf(ctx, all, project)
	if err != nil {
		return err
	}
	var b strings.Builder
	switch {
	case confirm != "":
		fmt.Fprintf(&b, "confirmed: `%s` grades cases of %s\nnext: `evolve harvest` puts it into the cases of requests about tests\n", plain.Line(confirm), plain.Line(project))
	case drop != "":
		fmt.Fprintf(&b, "dropped: `%s` grades no case of %s\nnext: `evolve harvest` takes it out of the cases that have it\n", plain.Line(drop), plain.Line(project))
	case len(list) == 0:
		fmt.Fprintf(&b, "no agent ran tests in %s, as far as sessions are stored\nnext: `evolve projects tests %s --confirm COMMAND` confirms one all the same\n", plain.Line(project), plain.Arg(project))
	default:
		if err := d.printTests(&b, project, list); err != nil {
			return err
		}
	}
	return d.Print(map[string]any{"schema": 1, "project": project, "tests": list}, b.String())
}

// testsOf lists the confirmed test commands of a project, then the others that agents ran.
func (d *Desk) testsOf(ctx context.Context, all *consent.Decisions, project string) ([]listed, error) {
	db, err := d.Store(ctx)
	if err != nil {
		return nil, err
	}
	confirmed := all.Tests(project)
	list := []listed{}
	if db != nil {
		sessions, err := db.Sessions(ctx, store.SessionFilter{Work: true})
		if err != nil {
			return nil, err
		}
		for _, p := range suite.Propose(sessions, func(f string) string {
			if all.Project(f) != project {
				return ""
			}
			return project
		}) {
			list = append(list, listed{p, slices.Contains(confirmed, p.Command)})
		}
	}
	for _, c := range confirmed {
		if !slices.ContainsFunc(list, func(l listed) bool { return l.Command == c }) {
			list = append(list, listed{suite.Proposal{Project: project, Command: c}, true})
		}
	}
	slices.SortStableFunc(list, func(a, b listed) int {
		switch {
		case a.Confirmed == b.Confirmed:
			return 0
		case a.Confirmed:
			return -1
		}
		return 1
	})
	return list, nil
}

func (d *Desk) printTests(b *strings.Builder, project string, list []listed) error {
	t := d.NewTable(b)
	fmt.Fprintln(t, "COMMAND\tSESSIONS\tRUNS\tPASSED\tCONFIRMED")
	left, first := 0, ""
	for _, l := range list {
		word := "yes"
		if !l.Confirmed {
			if word = "-"; first == "" {
				first = l.Command
			}
			if left++; left > maxProposed {
				continue
			}
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\n", plain.Line(l.Command), l.Sessions, l.Runs, l.Passed, word)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if left > maxProposed {
		fmt.Fprintf(b, "and %d more (--json lists them all)\n", left-maxProposed)
	}
	if first != "" {
		fmt.Fprintf(b, "\nnext: `evolve projects tests %s --confirm %s` lets it grade cases\n", plain.Arg(project), plain.Arg(plain.Line(first)))
	}
	return nil
}
