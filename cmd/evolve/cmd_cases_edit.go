package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/casefile"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/spf13/cobra"
)

func newCasesEditCommand(a *global) *cobra.Command {
	var trust bool
	c := &cobra.Command{
		Use:     "edit SKILL ID",
		Short:   "Change one case in $EDITOR",
		Example: "  evolve cases edit dataviz rev-01",
		Args:    exactArgs(2, "a skill and a case"),
		RunE:    func(c *cobra.Command, args []string) error { return casesEdit(c.Context(), a, args[0], args[1], trust) },
	}
	c.Flags().BoolVar(&trust, "trust-checks", false, "also take checks that run programs")
	return c
}

func casesEdit(ctx context.Context, a *global, name, id string, trust bool) error {
	g, err := casesOf(ctx, a)
	if err != nil {
		return err
	}
	c, err := g.Case(ctx, name, id)
	if err != nil {
		return err
	}
	text, file, err := editCase(ctx, a, c)
	if err != nil {
		return err
	}
	e, err := g.Replace(ctx, c, text, trust, fmt.Sprintf("nothing was changed; your text is in %s", file))
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Dir(file)); err != nil {
		return fmt.Errorf("remove the edited text: %w", err)
	}
	a.Warn(e.Warnings)
	word := "changed"
	if !e.Changed {
		word = "as before"
	}
	return a.Print(map[string]any{"schema": 1, "skill": name, "case": c.ID, "changed": e.Changed}, fmt.Sprintf("case %s of %s: %s\n", plain.Text(c.ID), name, word))
}

// editCase lets the owner edit a case as JSON and returns the text and the
// path of its file.
func editCase(ctx context.Context, a *global, c *eval.Case) (text []byte, file string, err error) {
	editor := a.Getenv("VISUAL")
	if editor == "" {
		editor = a.Getenv("EDITOR")
	}
	if editor == "" {
		return nil, "", problem.Inputf("for example EDITOR=nano", "no editor is named in $VISUAL or $EDITOR")
	}
	home, err := a.home()
	if err != nil {
		return nil, "", err
	}
	dir, err := os.MkdirTemp(string(home), datadir.Edits)
	if err != nil {
		return nil, "", fmt.Errorf("make a file to edit: %w", err)
	}
	file = filepath.Join(dir, datadir.FileName(c.ID)+".json")
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(c); err != nil {
		return nil, "", fmt.Errorf("encode case: %w", err)
	}
	if err := os.WriteFile(file, b.Bytes(), fileMode); err != nil {
		return nil, "", fmt.Errorf("make a file to edit: %w", err)
	}
	// Through the shell, because $EDITOR may hold arguments ("code --wait").
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", file)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.Stdin, term.Unwrapped(a.Stderr), term.Unwrapped(a.Stderr) // an editor needs the terminal itself
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, "", errors.Join(ctx.Err(), os.RemoveAll(dir))
		}
		return nil, "", errors.Join(problem.Inputf("nothing was changed", "run %s: %v", editor, err), os.RemoveAll(dir))
	}
	if text, err = bounded.ReadFile(file, casefile.MaxText); err != nil {
		return nil, "", fmt.Errorf("read the edited case: %w", err)
	}
	return text, file, nil
}
