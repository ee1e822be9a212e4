package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/casefiles"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/casefile"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/spf13/cobra"
)

func newCasesImportCommand(a *global) *cobra.Command {
	var trust bool
	var of, format string
	c := &cobra.Command{
		Use:     "import [SKILL] FILE|DIR",
		Short:   "Import cases from JSON Lines or the format of another program",
		Example: "  evolve cases import mine.jsonl\n  evolve cases import dataviz triggers.json",
		Long: `FILE holds cases as JSON Lines, one a line, or is skill-creator's evals.json.
The expectations (or assertions) of evals.json become checks for a judge, and
the files that it names are copied from its folder. A trigger set ([{query,
should_trigger}]) becomes trigger cases of SKILL. - is stdin. DIR holds cases as
evolve cases export writes them; what was edited there counts. Of claude plugin eval
and skill-creator it may be of others, too; what no check stands for is listed.
Either all cases are imported or none.

Cases that ask for one thing in other words are one piece of evidence: give them
the same "cluster". Cases of the same reference, or with the same checks on the
same files, get one if the file names none.`,
		Args: exactArgs(1, "a file (- is stdin) or a folder"),
		RunE: func(c *cobra.Command, args []string) error {
			return casesImport(c.Context(), a, args[0], of, format, trust)
		},
	}
	c.Flags().StringVar(&of, "skill", "", "the skill of cases that name none")
	c.Flags().StringVar(&format, "format", "", strings.Join(casefile.Formats, ", ")+" (default what the file or folder is)")
	c.Flags().BoolVar(&trust, "trust-checks", false, "also take checks that run programs; read them first")
	return c
}

func casesImport(ctx context.Context, a *global, file, of, format string, trust bool) error {
	home, err := a.home()
	if err != nil {
		return err
	}
	suite, err := casefiles.Input(&a.Terminal, file, of, format)
	if err != nil {
		return err
	}
	in := ingest.Input{Input: suite, Trust: trust, Projects: home.Projects()}
	r, err := ingest.Read(in, a.layout(), a.redactor())
	if err != nil {
		return err
	}
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	g, err := a.ingester(db)
	if err != nil {
		return err
	}
	if err := g.Save(ctx, r); err != nil {
		return err
	}
	return printImport(a, r)
}

func printImport(a *global, r *ingest.Import) error {
	if !a.JSON {
		a.Warn(r.Warnings)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s read: %d new, %d changed, %d as before\n", plain.Counted(r.Read, "case"), r.Added, r.Changed, r.Unchanged)
	for _, name := range sortedKeys(r.Skills) {
		n := r.Skills[name]
		fmt.Fprintf(&b, "%s: now %d train, %d val, %d test\n", name, n[eval.Train], n[eval.Val], n[eval.Test])
	}
	return a.Print(r, b.String())
}
