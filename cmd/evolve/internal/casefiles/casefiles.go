// Package casefiles is the commands that write, check and show files of cases.
package casefiles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/usage"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/casefile"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/eval/public"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/spf13/cobra"
)

const splitText = "nothing was imported; cut it into several files"

// Input is what file names: a file, a folder or stdin for "-". A text is read whole.
func Input(t *term.Terminal, file, skill, format string) (in casefile.Input, err error) {
	in = casefile.Input{Name: file, Skill: skill, Format: format}
	if format != "" {
		if err := casefile.Known(format); err != nil {
			return in, err
		}
	}
	if file == "-" {
		in.Name = "stdin"
		if in.Text, err = bounded.ReadAll(t.Stdin, casefile.MaxText); err != nil {
			err = problem.Hinted(fmt.Errorf("read stdin: %w", err), splitText)
		}
		return in, err
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		in.Dir = file
		return in, nil
	}
	in.File = file
	in.Text, err = bounded.ReadFile(file, casefile.MaxText)
	_, large := errors.AsType[*bounded.TooLargeError](err)
	switch {
	case large:
		err = problem.Inputf(splitText, "read cases: %w", err)
	case errors.Is(err, bounded.ErrNotRegular):
		err = problem.Inputf("name a file of JSON Lines; of what a program prints: PROGRAM | evolve cases import -", "read cases: %w", err)
	case err != nil:
		err = problem.Inputf("name a file of JSON Lines, or - for stdin", "read cases: %w", err)
	}
	return in, err
}

// Export is `evolve cases export`; read returns the cases of a skill and a split.
func Export(t *term.Terminal, read func(ctx context.Context, skill, split string) ([]eval.Case, error)) *cobra.Command {
	var split, format string
	var open bool
	c := &cobra.Command{
		Use:   "export SKILL [DIR]",
		Short: "Print the cases of a skill as JSON Lines, or write them as another format",
		Long: `Without --format, export prints JSON Lines as import reads them. Other formats are
written below DIR, and nothing is overwritten:

    plugin-eval  evals/CASE/, as claude plugin eval reads it; its checks of files
                 need --allow-tools Write there
    evals-json   evals/evals.json, as skill-creator reads it
    harbor       CASE/, tasks of Harbor and Terminal-Bench

What a format has no place for is listed, and kept for evolve cases import DIR, which
gives back equal cases. --public leaves out what came from your sessions or a model.`,
		Example: "  evolve cases export dataviz > dataviz.jsonl\n  evolve cases export dataviz --format plugin-eval my-plugin --public",
		Args: func(c *cobra.Command, args []string) error {
			if err := casefile.Known(format); err != nil {
				return err
			}
			if format == casefile.Lines {
				return usage.Exact(1, "a skill")(c, args)
			}
			return usage.Exact(2, "a skill and a folder")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			cases, err := read(c.Context(), args[0], split)
			if err != nil {
				return err
			}
			if open {
				kept, notes := public.Cases(cases, t.Getenv("HOME"))
				cases = kept
				t.Warn(notes)
			}
			if format != casefile.Lines {
				return exportFolder(t, format, args[1], cases)
			}
			var b bytes.Buffer
			if err := casefile.WriteLines(&b, cases); err != nil {
				return err
			}
			_, err = t.Stdout.Write(term.EscapedJSON(b.Bytes()))
			return err
		},
	}
	c.Flags().StringVar(&split, "split", "", "only the cases of this split: train, val or test")
	c.Flags().StringVar(&format, "format", casefile.Lines, strings.Join(casefile.Formats, ", "))
	c.Flags().BoolVar(&open, "public", false, "only cases that you wrote or imported, without paths of this machine")
	return c
}

func exportFolder(t *term.Terminal, format, dir string, cases []eval.Case) error {
	at, n, notes, err := casefile.Write(format, dir, cases)
	if err != nil {
		return problem.Hinted(err, "name a folder that does not have these cases")
	}
	if !t.JSON {
		t.Warn(notes)
	}
	return t.Print(map[string]any{"schema": 1, "written": n, "notes": notes}, fmt.Sprintf("%s written below %s\n", plain.Counted(n, "case"), plain.Line(at)))
}

// A Checked is what `evolve cases check --json` prints: schema 1.
type Checked struct {
	Schema   int      `json:"schema"`
	Name     string   `json:"name"`
	Cases    int      `json:"cases"`
	Programs int      `json:"programs"` // cases that run one
	Errors   []string `json:"errors"`
	Ignored  []string `json:"ignored"` // what a case has no place for
}

// Check is `evolve cases check`.
func Check(t *term.Terminal) *cobra.Command {
	var skill, format string
	c := &cobra.Command{
		Use:   "check [SKILL] FILE|DIR",
		Short: "List all errors of a file of cases, and import nothing",
		Long: `check reads what import reads, lists every error with its line or file, and ends
with 2 if there is one. It stores nothing and runs nothing.`,
		Example: "  evolve cases check mine.jsonl\n  evolve cases check dataviz my-plugin",
		Args:    usage.Exact(1, "a file (- is stdin) or a folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			in, err := Input(t, args[0], skill, format)
			if err != nil {
				return err
			}
			return check(t, in)
		},
	}
	c.Flags().StringVar(&skill, "skill", "", "the skill of cases that name none")
	c.Flags().StringVar(&format, "format", "", strings.Join(casefile.Formats, ", ")+" (default what the file or folder is)")
	return c
}

func check(t *term.Terminal, in casefile.Input) error {
	r := Checked{Schema: 1, Name: in.Name, Errors: []string{}, Ignored: []string{}}
	s, err := casefile.Read(in)
	faults, wrong := errors.AsType[eval.Faults](err)
	if err != nil && !wrong {
		_, hint := problem.Of(err)
		return problem.Hinted(err, strings.TrimPrefix(hint, "nothing was imported; "))
	}
	for _, f := range faults {
		r.Errors = append(r.Errors, plain.Error(f))
	}
	if err == nil { // what an import refuses
		for i := range s.Cases {
			if c := &s.Cases[i]; !named(c.Skill) {
				r.Errors = append(r.Errors, fmt.Sprintf("%s: case %q: %q names no skill", in.Name, c.ID, c.Skill))
			}
		}
		wrong = len(r.Errors) > 0
	}
	var b strings.Builder
	if wrong {
		for _, f := range r.Errors {
			fmt.Fprintf(&b, "%s\n", plain.Text(f))
		}
	} else {
		r.Cases, r.Ignored = len(s.Cases), slices.Concat(r.Ignored, s.Ignored)
		for i := range s.Cases {
			if slices.ContainsFunc(s.Cases[i].Checks, func(k eval.Check) bool { return k.Executing() }) {
				r.Programs++
			}
		}
		fmt.Fprintf(&b, "%s: %s, no errors\n", plain.Line(in.Name), plain.Counted(r.Cases, "case"))
		if r.Programs > 0 {
			fmt.Fprintf(&b, "%s with checks that run programs: read them, then import with --trust-checks\n", plain.Counted(r.Programs, "case"))
		}
		for _, what := range r.Ignored {
			fmt.Fprintf(&b, "a case has no place for: %s\n", plain.Line(what))
		}
	}
	if err := t.Print(r, b.String()); err != nil {
		return err
	}
	if wrong {
		return problem.Inputf("`evolve help cases-format` has the format", "%s: %s", plain.Line(in.Name), plain.Counted(len(r.Errors), "error"))
	}
	return nil
}
