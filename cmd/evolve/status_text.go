package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/store/datadir"
)

// terminalWidth is the largest width of printed lines: the terminal's, else
// COLUMNS, else 80.
func terminalWidth(a *global) int {
	if w := term.Columns(a.Stdout); w > 0 {
		return w
	}
	if w, err := strconv.Atoi(a.Getenv("COLUMNS")); err == nil && w > 0 {
		return w
	}
	return 80
}

// firstSteps prints in three lines how to begin; skills is the number of
// skills in dir.
func firstSteps(a *global, skills int, dir string) error {
	w := terminalWidth(a)
	what := fmt.Sprintf("evolve makes agent skills better from your own sessions: %s in %s", plain.Counted(skills, "skill"), dir)
	then := "then:  `evolve init` asks which sessions it may read, and sends nothing"
	if skills == 0 {
		what = fmt.Sprintf("no skills in %s, and no sessions read yet", dir)
		then = "then:  `evolve init` sets up; --skills-dir names another folder of skills"
	}
	_, err := fmt.Fprintf(a.Stdout, "%s\n%s\n%s\n", what,
		plain.Fit("first: `evolve demo` shows every step: no key, no network", w), plain.Fit(then, w))
	return err
}

// bare is the output of `evolve` alone: the status, and before the first harvest how to
// begin.
func bare(ctx context.Context, a *global) error {
	a.access = datadir.Looks
	db, err := a.existingStore(ctx)
	if err != nil {
		return err
	}
	if db != nil {
		return runStatus(ctx, a, false)
	}
	reg, err := a.layout().Registry()
	if err != nil {
		return err
	}
	dir, err := a.layout().Skills()
	if err != nil {
		return err
	}
	return firstSteps(a, len(reg.Entries)+len(reg.Broken), dir)
}
