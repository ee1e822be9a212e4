package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/usage"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/tournament/report/page"
	"github.com/skill-evolve/evolve/tournament/status"
	"github.com/spf13/cobra"
)

func newReportCommand(a *global) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "report [RUN|NIGHT|SKILL]",
		Short: "Write the report of a run or a night: one page that works offline",
		Long: `report writes the page of a run or a night to the data folder and prints its
path, or writes it to -o FILE (- is stdout). With --json it prints the same as
data. The name may be shortened; "last", or no name, is the newest run, the name
of a skill its newest run, "night" the newest night.`,
		Example: "  evolve report\n  evolve report dataviz\n  evolve report 20260921-0314 --json\n  evolve report last -o report.html\n  evolve report night",
		Args:    usage.AtMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			return runReport(c.Context(), a, cmp.Or(strings.Join(args, ""), "last"), out)
		},
	}
	c.Flags().StringVarP(&out, "output", "o", "", "file to write (- is stdout)")
	return c
}

func runReport(ctx context.Context, a *global, name, out string) error {
	db, err := a.store(ctx)
	if err != nil {
		return err
	}
	rd, err := a.reader(db)
	if err != nil {
		return err
	}
	p, data, err := pageOf(ctx, rd, name)
	if err != nil {
		return err
	}
	if a.JSON && out == "" {
		return a.PrintJSON(data)
	}
	var b bytes.Buffer
	switch {
	case a.JSON: // -o FILE --json: the data in the file
		to := a.copied()
		to.Stdout = &b
		err = to.PrintJSON(data)
	case out == "":
		if out, err = writePage(a, p.name, p.write); err == nil {
			_, err = fmt.Fprintln(a.Stdout, out)
		}
		return err
	default:
		err = p.write(&b)
	}
	if err != nil {
		return err
	}
	if out == "-" {
		_, err = io.Copy(a.Stdout, &b)
		return err
	}
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		return problem.Inputf("for example -o "+filepath.Join(out, "report.html"), "%s is a folder, and -o names a file", out)
	}
	if _, err := os.Stat(filepath.Dir(out)); errors.Is(err, fs.ErrNotExist) {
		return problem.Inputf("for example -o report.html", "there is no folder %s", filepath.Dir(out))
	}
	if err := renameio.WriteFile(out, b.Bytes(), fileMode); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	_, err = fmt.Fprintln(a.Stdout, out)
	return err
}

// A written is a finished report and its file name.
type written struct {
	name  string
	write func(io.Writer) error
}

// pageOf finds a run or a night by its name; data is the same for programs.
func pageOf(ctx context.Context, rd *status.Reader, name string) (p written, data any, err error) {
	if name == "night" || strings.HasPrefix(name, "night-") {
		return pageOfNight(ctx, rd, name, nil)
	}
	// A night's full name may be a prefix of a run's.
	if n, err := rd.Night(ctx, name); err != nil {
		return p, nil, err
	} else if n != nil && n.ID == name {
		return pageOfNight(ctx, rd, name, nil)
	}
	m, err := rd.RunReport(ctx, name)
	var f *problem.Error
	if errors.As(err, &f) && f.Kind == problem.Input && name != "last" {
		return pageOfNight(ctx, rd, name, err)
	} else if err != nil {
		return p, nil, err
	}
	return written{m.Run, page.Run(m)}, m, nil
}

// pageOfNight is the page of a night; if no night has that name, it returns
// the error otherwise.
func pageOfNight(ctx context.Context, rd *status.Reader, name string, otherwise error) (p written, data any, err error) {
	n, err := rd.Night(ctx, name)
	switch {
	case err != nil:
		return p, nil, err
	case n != nil:
		return written{"night-" + n.ID, page.Night(n)}, n, nil
	case otherwise == nil:
		otherwise = problem.Inputf("`evolve sleep status` shows the last one", "no night is named %q", name)
	}
	return p, nil, otherwise
}
