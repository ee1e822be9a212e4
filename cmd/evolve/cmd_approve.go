package main

import (
	"context"
	"fmt"
	"os/user"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/subject"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/approval"
	"github.com/spf13/cobra"
)

func newApproveCommand(a *global) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "approve SKILL@CANDIDATE",
		Short: "Let a quarantined candidate be tried",
		Long: `approve shows what the firewall found in a candidate, how it differs from the
live text, and the cases that taught it, and asks. An approved candidate is not
installed: the next ` + "`evolve --skill SKILL`" + ` starts its search with it beside the
live text, and it is tried like any other candidate. It stays on
record that the firewall flagged it: only ` + "`evolve promote`" + `, typed by you, ever
installs it. approve also undoes a rejection.`,
		Example: "  evolve status                       names what waits in quarantine\n  evolve approve dataviz@3f2a9c\n  evolve approve dataviz@3f2a9c --yes",
		Args:    exactArgs(1, "a skill and a candidate"),
		RunE: func(c *cobra.Command, args []string) error {
			return runDecision(c.Context(), a, args[0], store.Approved, yes)
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func newRejectCommand(a *global) *cobra.Command {
	return &cobra.Command{
		Use:   "reject SKILL@CANDIDATE",
		Short: "Drop a candidate for good",
		Long: `reject drops a candidate that waits in quarantine, or a new text that is on
trial or waits for your word. No later run proposes that text again. ` + "`evolve approve`" + ` undoes
it.`,
		Example: "  evolve reject dataviz@3f2a9c\n  evolve reject dataviz@challenger",
		Args:    exactArgs(1, "a skill and a candidate"),
		RunE: func(c *cobra.Command, args []string) error {
			return runDecision(c.Context(), a, args[0], store.Rejected, true)
		},
	}
}

// approvalDesk returns the desk that records this command's decisions.
func approvalDesk(a *global, db *store.Store) (*approval.Desk, error) {
	o, err := a.outbox()
	if err != nil {
		return nil, err
	}
	return &approval.Desk{Layout: a.layout(), Release: a.installerWith(o, db), Outbox: o, By: whoami()}, nil
}

// runDecision asks for confirmation if needed, stores the owner's decision on
// a candidate and prints the next step.
func runDecision(ctx context.Context, a *global, arg string, word store.Word, yes bool) error {
	name, _ := subject.Cut(arg)
	if _, err := a.layout().Live(name); err != nil { // before a store is made
		return err
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	k, err := approvalDesk(a, db)
	if err != nil {
		return err
	}
	d, err := k.Find(ctx, arg, word)
	if err != nil {
		return err
	}
	asked := word == store.Approved && !d.Done && !yes
	if asked {
		if yes, err = askApproval(a, d); err != nil || !yes {
			return err
		}
	}
	if err := k.Keep(ctx, d); err != nil {
		return err
	}
	return a.Print(d.Result, d.Text(word == store.Approved && !asked))
}

// askApproval shows a candidate and asks for a decision. Without a terminal
// it shows the candidate and returns an error with the command to type.
func askApproval(a *global, d *approval.Decision) (bool, error) {
	r := &d.Result
	hint := fmt.Sprintf("`evolve approve %s@%s --yes` lets it be tried, `evolve reject %s@%s` drops it", r.Skill, plain.Short(r.SHA), r.Skill, plain.Short(r.SHA))
	if a.JSON {
		r.Next = hint
		if err := a.PrintJSON(r); err != nil {
			return false, err
		}
	} else if _, err := fmt.Fprint(a.Stdout, d.Evidence(term.IsTerminal(a.Stdout) && a.Getenv("NO_COLOR") == "")); err != nil {
		return false, err
	}
	ok, err := a.Confirm(fmt.Sprintf("Let candidate %s be tried?", plain.Short(r.SHA)))
	if err == nil && !ok {
		err = problem.Refusef(hint, "candidate %s stays as it is: %s", plain.Short(r.SHA), d.Words)
	}
	return ok, err
}

// whoami is the name of the current user.
func whoami() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "unknown"
}
