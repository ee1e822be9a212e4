// Package usage reads what is typed behind a command, in each of the ways in which people
// type it, and says what was probably meant by a mistake.
package usage

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Finite refuses NaN and infinities, which a flag's parser accepts as
// numbers.
func Finite(c *cobra.Command, _ []string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() != "float64" || err != nil {
			return
		}
		if x, e := strconv.ParseFloat(f.Value.String(), 64); e != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			err = problem.Inputf(fmt.Sprintf("for example --%s 5", f.Name), "--%s takes a finite number, not %s", f.Name, f.Value)
		}
	})
	return err
}

// FlagError names the nearest flag for an unknown one.
func FlagError(c *cobra.Command, err error) error {
	msg := err.Error()
	if bad := (*pflag.InvalidValueError)(nil); errors.As(err, &bad) {
		name := bad.GetFlag().Name
		if k, ok := flagValues[bad.GetFlag().Value.Type()]; ok { // else the cause is in our own words
			if def := bad.GetFlag().DefValue; def != "0" && def != "false" && def != "-1" && def != "0s" {
				k.example = def
			}
			return problem.Inputf(fmt.Sprintf("for example --%s %s", name, k.example), "--%s takes %s, not %q", name, k.what, bad.GetValue())
		}
	}
	if name, ok := strings.CutPrefix(msg, "unknown flag: --"); ok {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
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

// Parent makes c a command that has only subcommands.
func Parent(c *cobra.Command, subs ...*cobra.Command) {
	c.Args, c.RunE = Subcommands, func(c *cobra.Command, _ []string) error { return c.Help() }
	c.AddCommand(subs...)
}

// Subcommands refuses arguments that are no subcommand.
func Subcommands(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UnknownCommand(c, args[0])
	}
	return nil
}

// UnknownCommand names the nearest command for an unknown one.
func UnknownCommand(c *cobra.Command, word string) error {
	hint := fmt.Sprintf("`%s --help` lists the commands", c.CommandPath())
	if near := nearest(c, word); near != "" {
		hint = fmt.Sprintf("did you mean `%s %s`?", c.CommandPath(), near)
	}
	return problem.Inputf(hint, "unknown command %q", word)
}

func nearest(c *cobra.Command, word string) string {
	var names []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	return skill.Nearest(word, names)
}

// Root refuses words that are no command. The name of a skill or of a file of standing
// instructions is one that its owner wanted a run of.
func Root(layout func() *skill.Layout) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		word := args[0]
		var skills []string
		if reg, err := layout().Registry(); err == nil { // else the command is what is wrong
			for _, e := range reg.Entries {
				skills = append(skills, e.Name)
			}
		}
		if meant := skill.Nearest(word, skills); skill.IsFile(word) || meant == word || meant != "" && nearest(c, word) == "" {
			return problem.Inputf(fmt.Sprintf("did you mean `evolve run %s`?", cmp.Or(meant, word)), "unknown command %q", word)
		}
		return UnknownCommand(c, word)
	}
}

// UnknownWord refuses an argument that is not in the list of its kind.
func UnknownWord(kind, word string, list []string) error {
	hint := "the " + kind + "s are " + strings.Join(list, ", ")
	if near := skill.Nearest(word, list); near != "" && near[0] == word[0] { // the slip of a finger is rarely at the start
		hint = "did you mean " + near + "? " + hint
	}
	return problem.Inputf(hint, "unknown %s %q", kind, word)
}

// Exact is cobra.ExactArgs with our exit code and hint; what names what is needed.
func Exact(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < n {
			return problem.Inputf(fmt.Sprintf("usage: %s", c.UseLine()), "%s needs %s", c.CommandPath(), what)
		}
		return atMost(n, c, args)
	}
}

// AtMostOne is cobra.MaximumNArgs(1) with our exit code and hint.
func AtMostOne(c *cobra.Command, args []string) error { return atMost(1, c, args) }

// None is cobra.NoArgs with our exit code and hint.
func None(c *cobra.Command, args []string) error { return atMost(0, c, args) }

func atMost(n int, c *cobra.Command, args []string) error {
	if len(args) > n {
		return problem.Inputf(fmt.Sprintf("usage: %s", c.UseLine()), "%s takes no %q", c.CommandPath(), args[n])
	}
	return nil
}
