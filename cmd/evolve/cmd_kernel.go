package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/check"
	"github.com/skill-evolve/evolve/mutate/standing"
	"github.com/skill-evolve/evolve/tournament/status"
	"github.com/spf13/cobra"
)

func newKernelCommand(a *global) *cobra.Command {
	c := &cobra.Command{
		Use:     "kernel",
		Short:   "The parts of a skill that evolution never changes",
		Example: "  evolve kernel show dataviz\n  evolve kernel confirm dataviz",
		Long: `The kernel is every byte of a skill that evolution must not change; the rest is
the harness. Mark a part with <!-- kernel --> and <!-- /kernel --> on lines of
their own, or name sections in the frontmatter: metadata: {kernel: "Security"}.`,
	}
	parent(c,
		&cobra.Command{
			Use:     "show SKILL",
			Short:   "List the kernel, with the reason for each part",
			Example: "  evolve kernel show dataviz",
			Args:    exactArgs(1, "a skill"),
			RunE:    func(c *cobra.Command, args []string) error { return kernelShow(c.Context(), a, args[0]) },
		},
		newKernelCheckCommand(a),
		&cobra.Command{
			Use:     "confirm SKILL",
			Short:   "Record that the kernel is what you want it to be",
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
	return printKernel(a, r)
}

func printKernel(a *global, r *status.KernelParts) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: kernel %.12s, ", r.Skill, r.SHA)
	if r.Confirmed != nil {
		fmt.Fprintf(&b, "confirmed on %s\n", r.Confirmed.Local().Format(time.DateOnly))
	} else {
		fmt.Fprintf(&b, "not confirmed by you\n")
	}
	t := a.NewTable(&b)
	fmt.Fprintln(t, "LINES\tHEADING\tWHY")
	for _, s := range r.Spans {
		lines := fmt.Sprint(s.First)
		if s.Last > s.First {
			lines += fmt.Sprintf("-%d", s.Last)
		}
		heading := s.Heading
		if heading == "" {
			heading = "-"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", lines, heading, s.Reason)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(&b, "harness: %d of %d bytes (%.0f %%) may evolve\n", r.Harness, r.Bytes, 100*r.Share)
	switch {
	case r.Share == 0:
		fmt.Fprintf(&b, "next: everything is kernel, so there is nothing to evolve; mark less of it\n")
	case r.Confirmed == nil:
		fmt.Fprintf(&b, "next: `evolve kernel confirm %s`, or mark more with <!-- kernel --> … <!-- /kernel -->\n", r.Skill)
	}
	return a.Print(r, b.String())
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

func newKernelCheckCommand(a *global) *cobra.Command {
	profile := string(check.ClaudeCode)
	c := &cobra.Command{
		Use:     "check SKILL|FILE",
		Short:   "Check a SKILL.md or a file of instructions against the rules; exit code 2 if it breaks one",
		Example: "  evolve kernel check dataviz\n  evolve kernel check ./SKILL.md\n  evolve kernel check AGENTS.md",
		Args:    exactArgs(1, "a skill or a file"),
		RunE:    func(c *cobra.Command, args []string) error { return kernelCheck(a, args[0], check.Profile(profile)) },
	}
	c.Flags().StringVar(&profile, "profile", profile, "rules: claude-code or portable")
	return c
}

// A checkReport is what `evolve kernel check --json` prints: schema 1.
type checkReport struct {
	Schema   int            `json:"schema"`
	Path     string         `json:"path"`
	OK       bool           `json:"ok"`
	Findings []checkFinding `json:"findings"`
}

type checkFinding struct {
	Line     int    `json:"line"`
	Severity string `json:"severity"` // "error" or "warning"
	Rule     string `json:"rule"`
	Message  string `json:"message"`
}

func kernelCheck(a *global, arg string, profile check.Profile) error {
	if profile != check.ClaudeCode && profile != check.Portable {
		return problem.Inputf("the profiles are claude-code and portable", "unknown profile %q", profile)
	}
	path, found, err := findings(a, arg, profile)
	if err != nil {
		return err
	}
	r := checkReport{Schema: 1, Path: path, OK: true, Findings: []checkFinding{}}
	errs := 0
	for _, f := range found {
		severity := "warning"
		if f.Severity == check.Reject {
			severity = "error"
			errs++
		}
		r.Findings = append(r.Findings, checkFinding{f.Line, severity, f.Rule, f.Reason})
	}
	slices.SortStableFunc(r.Findings, func(f, g checkFinding) int { return f.Line - g.Line })
	r.OK = errs == 0
	if a.JSON {
		err = a.PrintJSON(r)
	} else {
		for _, f := range r.Findings {
			if _, err := fmt.Fprintf(a.Stdout, "%s:%d: %s: %s (%s)\n", path, f.Line, f.Severity, f.Message, f.Rule); err != nil {
				return err
			}
		}
		if r.OK {
			_, err = fmt.Fprintf(a.Stdout, "%s: no errors\n", path)
		}
	}
	if err == nil && errs > 0 {
		err = problem.Inputf("mend the lines that are named, then check again", "%s has %s", path, plain.Counted(errs, "error"))
	}
	return err
}

// findings checks a skill or a file, and returns its path.
func findings(a *global, arg string, profile check.Profile) (path string, found []check.Finding, err error) {
	loads := standing.Loader{Layout: a.layout()}
	if key, ok := loads.Instructions(arg); ok {
		found, err = loads.Findings(key)
		return arg, found, err
	}
	path, folder, err := skillFile(a, arg)
	if err != nil {
		return "", nil, err
	}
	text, err := skill.ReadFile(path)
	if err != nil {
		return "", nil, problem.Inputf("name a skill, a folder with a SKILL.md, a SKILL.md or a file of instructions", "read skill: %v", err)
	}
	// A text that does not parse still is a document; Validate reports the
	// reason.
	doc, _ := skill.Parse(text, skill.Options{})
	return path, check.Validate(doc, profile, folder), nil
}

// skillFile finds the SKILL.md for a skill's name, a folder or a file, and
// the name of its folder.
func skillFile(a *global, arg string) (path, folder string, err error) {
	if !strings.ContainsAny(arg, `/\`) && !strings.HasSuffix(arg, ".md") {
		reg, err := a.layout().Registry()
		if err != nil {
			return "", "", err
		}
		e, err := reg.Lookup(arg)
		var broken *skill.BrokenSkillError
		if errors.As(err, &broken) {
			return broken.Path, broken.Name, nil
		}
		if err == nil {
			return e.Path, e.Name, nil
		}
		if info, serr := os.Stat(arg); serr != nil || !info.IsDir() {
			return "", "", err
		}
	}
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		arg = filepath.Join(arg, skill.FileName)
	}
	abs, err := filepath.Abs(arg)
	if err != nil {
		return "", "", fmt.Errorf("find %s: %w", arg, err)
	}
	if filepath.Base(abs) == skill.FileName {
		folder = filepath.Base(filepath.Dir(abs))
	}
	return arg, folder, nil
}
