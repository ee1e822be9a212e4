package main

import (
	"context"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/lint"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/probing"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/tournament/status"
	"github.com/spf13/cobra"
)

func newKernelCommand(a *global) *cobra.Command {
	c := &cobra.Command{
		Use:     "kernel",
		Short:   "The locked lines of a skill, which evolve never changes",
		Example: "  evolve kernel show dataviz\n  evolve kernel confirm dataviz",
		Long: `The kernel is the locked lines: every byte of a skill that evolve must not change.
Mark a part with <!-- kernel --> and <!-- /kernel --> on lines of
their own, or name sections in the frontmatter: metadata: {kernel: "Security"}.
In the script of a hook the lines are # kernel and # /kernel, or // kernel.`,
	}
	parent(c,
		&cobra.Command{
			Use:     "show SKILL",
			Short:   "List the locked lines, with the reason for each part",
			Example: "  evolve kernel show dataviz",
			Args:    exactArgs(1, "a skill"),
			RunE:    func(c *cobra.Command, args []string) error { return kernelShow(c.Context(), a, args[0]) },
		},
		lint.Parts{Terminal: &a.Terminal, Layout: a.layout}.Command(),
		probing.Parts{Parts: correctionsParts(a), Now: a.Now}.Command(),
		&cobra.Command{
			Use:     "confirm SKILL",
			Short:   "Record that the locked lines are what you want them to be",
			Example: "  evolve kernel confirm dataviz",
			Args:    exactArgs(1, "a skill"),
			RunE:    func(c *cobra.Command, args []string) error { return kernelConfirm(c.Context(), a, args[0]) },
		})
	return c
}

// confirmedAt is when the owner confirmed a kernel, nil if they have not. It does not
// create a store.
func confirmedAt(ctx context.Context, a *global, name, sha string) (*time.Time, error) {
	db, err := a.existingStore(ctx)
	if err != nil || db == nil {
		return nil, err
	}
	at, ok, err := db.KernelConfirmed(ctx, name, sha)
	if err != nil || !ok {
		return nil, err
	}
	return &at, nil
}

func kernelShow(ctx context.Context, a *global, name string) error {
	live, err := a.layout().Live(name)
	if err != nil {
		return err
	}
	r := status.KernelOf(live)
	if r.Confirmed, err = confirmedAt(ctx, a, name, r.SHA); err != nil {
		return err
	}
	return a.Print(r, r.Text(term.Columns(a.Stdout)))
}

func kernelConfirm(ctx context.Context, a *global, name string) error {
	live, err := a.layout().Live(name)
	if err != nil {
		return err
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	if err := db.ConfirmKernel(ctx, name, live.Doc.KernelHash(), a.Now().UTC()); err != nil {
		return err
	}
	return kernelShow(ctx, a, name)
}
