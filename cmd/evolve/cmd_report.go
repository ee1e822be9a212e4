package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament"
	"github.com/skill-evolve/evolve/tournament/report"
	"github.com/spf13/cobra"
)

func newReportCommand(a *app) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:     "report RUN",
		Short:   "Write a run's report: one page of HTML that needs no network",
		Long:    "report writes a run's page to its data folder and prints where, or to -o FILE (- is stdout).\nWith --json it prints the same as data. RUN may be shortened; \"last\" is the newest run.",
		Example: "  evolve report last\n  evolve report 20260921-0314 --json\n  evolve report last -o report.html",
		Args:    exactArgs(1, "a run"),
		RunE:    func(c *cobra.Command, args []string) error { return a.report(c.Context(), args[0], out) },
	}
	c.Flags().StringVarP(&out, "output", "o", "", "file to write (- is stdout)")
	return c
}

func (a *app) report(ctx context.Context, name, out string) error {
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	m, err := a.reportModel(ctx, db, name)
	if err != nil {
		return err
	}
	if a.json && out == "" {
		return a.printJSON(m)
	}
	var b bytes.Buffer
	if a.json {
		// -o FILE --json: the data in the file.
		to := *a
		to.stdout = &b
		err = to.printJSON(m)
	} else {
		err = m.HTML(&b)
	}
	if err != nil {
		return err
	}
	switch out {
	case "-":
		_, err = io.Copy(a.stdout, &b)
		return err
	case "":
		if out, err = a.reportPath(m.Run); err != nil {
			return err
		}
	}
	if err := renameio.WriteFile(out, b.Bytes(), fileMode); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	_, err = fmt.Fprintln(a.stdout, out)
	return err
}

// reportModel finds a run and builds its report.
func (a *app) reportModel(ctx context.Context, db *store.Store, name string) (*report.Model, error) {
	run, err := a.findRun(ctx, db, name)
	if err != nil {
		return nil, err
	}
	data, err := report.Load(ctx, db, run)
	if err != nil {
		return nil, err
	}
	return report.Build(data)
}

// findRun completes a run's name; "last" is the newest.
func (a *app) findRun(ctx context.Context, db *store.Store, name string) (string, error) {
	var many *store.AmbiguousError
	if name == "last" {
		runs, err := db.Runs(ctx, "")
		if err != nil {
			return "", err
		}
		runs = slices.DeleteFunc(runs, func(r tournament.Run) bool { return strings.HasPrefix(r.ID, rebasePrefix) }) // nothing was run
		if len(runs) == 0 {
			return "", usage("`evolve demo` makes one without a key", "there is no run yet")
		}
		return runs[0].ID, nil
	}
	r, err := db.Run(ctx, name)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return "", usage("`evolve status` names the runs; \"last\" is the newest", "no run is named %q", name)
	case errors.As(err, &many):
		return "", usage(fmt.Sprintf("it may be %s or %s", many.Matches[0], many.Matches[1]), "%q names several runs", name)
	case err != nil:
		return "", err
	}
	return r.ID, nil
}

func (a *app) reportPath(run string) (string, error) {
	h, err := a.home()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(h, "reports")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("write report: %w", err)
	}
	return filepath.Join(dir, run+".html"), nil
}

// writeReport renders a run's report into the data folder and returns its path.
func (a *app) writeReport(ctx context.Context, db *store.Store, run string) (string, error) {
	m, err := a.reportModel(ctx, db, run)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := m.HTML(&b); err != nil {
		return "", err
	}
	path, err := a.reportPath(run)
	if err != nil {
		return "", err
	}
	if err := renameio.WriteFile(path, b.Bytes(), fileMode); err != nil {
		return "", fmt.Errorf("write report: %w", err)
	}
	return path, nil
}
