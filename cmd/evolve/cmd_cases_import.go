package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/ingest"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/spf13/cobra"
)

func newCasesImportCommand(a *global) *cobra.Command {
	var trust bool
	var of string
	c := &cobra.Command{
		Use:     "import [SKILL] FILE|DIR",
		Short:   "Import cases from JSON Lines, evals.json or a plugin's evals",
		Example: "  evolve cases import mine.jsonl\n  evolve cases import dataviz triggers.json",
		Long: `FILE holds cases as JSON Lines, one a line, or is skill-creator's evals.json.
The expectations (or assertions) of evals.json become checks for a judge, and
the files that it names are copied from its folder. A trigger set ([{query,
should_trigger}]) becomes trigger cases of SKILL. - is stdin. DIR is a plugin
with cases as claude plugin eval has them (evals/CASE/); edited graders count, and
graders that no check stands for are listed. Either all cases are imported or none.

Cases that ask for one thing in other words are one piece of evidence: give them
the same "cluster". Cases of the same reference, or with the same checks on the
same files, get one if the file names none.`,
		Args: exactArgs(1, "a file (- is stdin) or a folder"),
		RunE: func(c *cobra.Command, args []string) error { return casesImport(c.Context(), a, args[0], of, trust) },
	}
	c.Flags().StringVar(&of, "skill", "", "the skill of cases that name none")
	c.Flags().BoolVar(&trust, "trust-checks", false, "also take checks that run programs; read them first")
	return c
}

func casesImport(ctx context.Context, a *global, file, of string, trust bool) error {
	home, err := a.home()
	if err != nil {
		return err
	}
	in := ingest.Input{Skill: of, Trust: trust, Projects: home.Projects()}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		in.Dir, in.Name = file, file
	} else if in.Text, in.Name, err = readInput(a, file); err != nil {
		return err
	} else if file != "-" {
		in.File = file
	}
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

// maxImport is the largest import, in bytes.
const (
	maxImport   = 256 << 20
	splitImport = "nothing was imported; cut it into several files"
)

// readInput reads a whole file, or stdin for "-"; name is for messages.
func readInput(a *global, file string) (text []byte, name string, err error) {
	if file == "-" {
		text, err = bounded.ReadAll(a.Stdin, maxImport)
		if err != nil {
			return nil, "", problem.Hinted(fmt.Errorf("read stdin: %w", err), splitImport)
		}
		return text, "stdin", nil
	}
	text, err = bounded.ReadFile(file, maxImport)
	_, large := errors.AsType[*bounded.TooLargeError](err)
	switch {
	case large:
		return nil, "", problem.Inputf(splitImport, "read cases: %v", err)
	case errors.Is(err, bounded.ErrNotRegular):
		return nil, "", problem.Inputf("name a file of JSON Lines; of what a program prints: PROGRAM | evolve cases import -", "read cases: %v", err)
	case err != nil:
		return nil, "", problem.Inputf("name a file of JSON Lines, or - for stdin", "read cases: %v", err)
	}
	return text, file, nil
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
