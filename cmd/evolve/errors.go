package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
	"github.com/skill-evolve/evolve/mutate/skill/install"
	"github.com/skill-evolve/evolve/store"
	"github.com/skill-evolve/evolve/tournament/release"
	"github.com/skill-evolve/evolve/tournament/search"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// classify gives the kind and the hint of an error by the types in its chain.
func classify(err error) (kind problem.Kind, hint string) {
	var (
		infra   *eval.InfraError
		missing *eval.TooManyMissingError
		limit   *eval.BudgetError
		syntax  *skill.SyntaxError
		unknown *skill.UnknownSkillError
		alias   *skill.AliasError
		broken  *skill.BrokenSkillError
		drift   *install.DriftError
		kernel  *search.KernelError

		speechless *search.AgentFailsError
		newer      *store.NewerError
		corrupt    *store.CorruptError
		lost       *store.LostError
		noRoom     *store.FullError
		large      *bounded.TooLargeError
		partial    *release.PartialError
	)
	switch {
	case errors.As(err, &partial):
		return explain(partial.First())
	case errors.Is(err, context.Canceled):
		return problem.Interrupted, ""
	case errors.As(err, &syntax):
		return problem.Input, fmt.Sprintf("mend line %d of the SKILL.md, then check it with `evolve kernel check`", syntax.Line)
	case errors.As(err, &unknown):
		if unknown.Nearest != "" {
			return problem.Input, fmt.Sprintf("did you mean %s? `evolve status` lists the skills that were found", unknown.Nearest)
		}
		return problem.Input, "`evolve status` lists the skills that were found"
	case errors.As(err, &alias):
		return problem.Input, fmt.Sprintf("use the name %s: it is the folder's own name, under which evolve stores everything", alias.Of)
	case errors.As(err, &broken):
		return problem.Input, fmt.Sprintf("mend the file; `evolve kernel check %s` says what is wrong", broken.Name)
	case errors.As(err, &drift):
		return problem.Refused, "the file was edited meanwhile; `evolve harvest` records the edit as a version, or use --force"
	case errors.As(err, &kernel):
		return problem.Refused, "nothing was staged or installed; please report this"
	case errors.As(err, &limit):
		return problem.Stopped, "run it again with a higher cap: what was measured is not measured again"
	case errors.As(err, &infra):
		return infraHint(infra)
	case errors.As(err, &missing):
		return problem.Failed, "first fix what the message names"
	case errors.As(err, &speechless):
		return problem.Failed, "ask the model a question by hand; check --model, and whether its answers are cut off"
	case errors.As(err, &newer):
		return problem.Failed, "update evolve, or point EVOLVE_HOME at another folder"
	case errors.As(err, &corrupt):
		return problem.Failed, "move the file away or restore it from a backup; evolve never rebuilds it by itself"
	case errors.As(err, &lost):
		return problem.Failed, "restore evolve.db from a backup; to start without its data, move " + strings.Join(lost.Beside, " and ") + " out of its folder"
	case errors.As(err, &noRoom), errors.Is(err, syscall.ENOSPC):
		return problem.Failed, "free some disk space; nothing was half-written"
	case errors.As(err, &large):
		return problem.Failed, "no file of that kind should be this large: check its content, shorten it or move it away"
	case errors.Is(err, bounded.ErrNotRegular):
		return problem.Failed, "put a file there, or move what is there away"
	case errors.Is(err, syscall.EROFS):
		return problem.Failed, readOnlyHint(err)
	case errors.Is(err, os.ErrPermission):
		return problem.Failed, "check who owns the file or folder"
	}
	return problem.Failed, ""
}

// readOnlyHint names the folder that cannot be written, and the way out: only
// evolve's own data can be put elsewhere.
func readOnlyHint(err error) string {
	const elsewhere = "point EVOLVE_HOME at a folder that can be written"
	var at *fs.PathError
	var link *os.LinkError
	path := ""
	switch {
	case errors.As(err, &at):
		path = at.Path
	case errors.As(err, &link):
		path = link.New
	}
	if !filepath.IsAbs(path) { // of a folder that was opened: the message names it
		if path == "" {
			return elsewhere
		}
		return "that folder is mounted read-only: mount it so that it can be written"
	}
	home, e := (&global{Terminal: term.Terminal{Getenv: os.Getenv}}).home()
	if rel, no := filepath.Rel(string(home), path); e == nil && no == nil && filepath.IsLocal(rel) {
		return elsewhere
	}
	return filepath.Dir(path) + " is mounted read-only: mount it so that it can be written"
}

// finiteFlags refuses NaN and infinities, which a flag's parser accepts as
// numbers.
func finiteFlags(c *cobra.Command, _ []string) (err error) {
	c.Flags().Visit(func(f *flagT) {
		if f.Value.Type() != "float64" || err != nil {
			return
		}
		if x, e := strconv.ParseFloat(f.Value.String(), 64); e != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			err = problem.Inputf(fmt.Sprintf("for example --%s 5", f.Name), "--%s takes a finite number, not %s", f.Name, f.Value)
		}
	})
	return err
}

func infraHint(e *eval.InfraError) (kind problem.Kind, hint string) {
	switch e.Kind {
	case eval.Refused:
		return problem.Of(e.Err)
	case eval.Auth:
		return problem.Failed, "check the key: `evolve doctor` says which variable each agent takes it from, --api-key-env names openai's"
	case eval.BadRequest:
		return problem.Failed, "check --model and --base-url"
	case eval.RateLimited:
		return problem.Failed, "the server accepts fewer calls at a time: lower --concurrency, or set --rate"
	case eval.Pending:
		return problem.Stopped, "answer the open requests (OPEN.md in the folder lists them), then run the same command again"
	case eval.UsageLimit:
		if !e.ResetAt.IsZero() {
			return problem.Stopped, "the limit resets at " + e.ResetAt.Local().Format("2006-01-02 15:04")
		}
		return problem.Stopped, "continue once the limit has reset"
	}
	if e.Kind == eval.ServerError {
		return problem.Failed, "the server answers with an error: read its message and try again later"
	}
	return problem.Failed, "is the server running? check --base-url"
}

// oneLine folds a message, so that an error is one line whatever it quotes,
// and no text from a server or a file reaches the terminal as a control
// sequence.
func oneLine(s string) string { return plain.Line(s) }

// flagError names the nearest flag for an unknown one.
func flagError(c *cobra.Command, err error) error {
	msg := err.Error()
	if bad := (*pflag.InvalidValueError)(nil); errors.As(err, &bad) {
		name := bad.GetFlag().Name
		if k, ok := flagValues[bad.GetFlag().Value.Type()]; ok { // else the cause is in our own words
			return problem.Inputf(fmt.Sprintf("for example --%s %s", name, k.example), "--%s takes %s, not %q", name, k.what, bad.GetValue())
		}
	}
	if name, ok := strings.CutPrefix(msg, "unknown flag: --"); ok {
		var names []string
		c.Flags().VisitAll(func(f *flagT) { names = append(names, f.Name) })
		if near := skill.Nearest(name, names); near != "" {
			return problem.Inputf(fmt.Sprintf("did you mean --%s? `%s --help` lists the flags", near, c.CommandPath()), "%s", msg)
		}
	}
	return problem.Inputf(fmt.Sprintf("`%s --help` lists the flags", c.CommandPath()), "%s", msg)
}

// flagValues describes the values of each flag type, for parser errors that
// do not.
var flagValues = map[string]struct{ what, example string }{
	"duration": {"a time with its unit", "90m"},
	"float64":  {"a number", "2.5"},
	"int":      {"a whole number", "20"},
	"int64":    {"a whole number", "20"},
	"bool":     {"true or false", "false"},
}

// parent makes c a command that has only subcommands.
func parent(c *cobra.Command, subs ...*cobra.Command) {
	c.Args, c.RunE = subcommands, func(c *cobra.Command, _ []string) error { return c.Help() }
	c.AddCommand(subs...)
}

// subcommands refuses arguments that are no subcommand.
func subcommands(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(c, args[0])
	}
	return nil
}

// unknownCommand names the nearest command for an unknown one.
func unknownCommand(c *cobra.Command, word string) error {
	var names []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	hint := fmt.Sprintf("`%s --help` lists the commands", c.CommandPath())
	if near := skill.Nearest(word, names); near != "" {
		hint = fmt.Sprintf("did you mean `%s %s`?", c.CommandPath(), near)
	}
	return problem.Inputf(hint, "unknown command %q", word)
}

// unknownWord refuses an argument that is not in the list of its kind.
func unknownWord(kind, word string, list []string) error {
	hint := "the " + kind + "s are " + strings.Join(list, ", ")
	if near := skill.Nearest(word, list); near != "" {
		hint = "did you mean " + near + "?"
	}
	return problem.Inputf(hint, "unknown %s %q", kind, word)
}

// exactArgs is cobra.ExactArgs with our exit code and hint.
func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return problem.Inputf(fmt.Sprintf("usage: %s", c.UseLine()), "%s needs %s", c.CommandPath(), what)
		}
		return nil
	}
}

// noArgs is cobra.NoArgs with our exit code and hint.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return problem.Inputf(fmt.Sprintf("usage: %s", c.UseLine()), "%s takes no %q", c.CommandPath(), args[0])
	}
	return nil
}
