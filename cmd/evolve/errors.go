package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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
