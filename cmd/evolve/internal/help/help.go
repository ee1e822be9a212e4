// Package help explains commands and topics: on the terminal, and as docs/cli.md.
package help

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/spf13/cobra"
)

// width is how wide help is, in columns.
const width = 80

// groups are the headings of `evolve help`, in their order, and what stands under
// each.
var groups = []struct{ id, title, commands string }{
	{"day", "Every day", "run status harvest resolve"},
	{"look", "Look", "log show diff compare report serve cases sessions kernel"},
	{"decide", "Decide", "promote rollback approve reject pin review"},
	{"nights", "Nights", "sleep hooks"},
	{"setup", "Set up", "demo doctor completion help"},
}

// examples are those of commands that have none of their own.
var examples = map[string]string{
	"demo":            "evolve demo\nevolve demo --keep /tmp/demo",
	"run":             "evolve run --skill dataviz --dry-run\nevolve run --skill dataviz --max-cost-usd 2\nevolve run --skill dataviz --agent claude --promote\nevolve run --resume 20260921-031702-5e1f0a",
	"status":          "evolve status\nevolve status --json",
	"cases":           "evolve cases list dataviz\nevolve cases import mine.jsonl",
	"cases list":      "evolve cases list dataviz\nevolve cases list dataviz --split test",
	"cases show":      "evolve cases show dataviz rev-01",
	"cases import":    "evolve cases import mine.jsonl\nevolve cases import triggers.json --skill dataviz",
	"cases edit":      "evolve cases edit dataviz rev-01",
	"cases drop":      "evolve cases drop dataviz rev-01 rev-02",
	"sessions":        "evolve sessions list\nevolve sessions purge ID",
	"sessions show":   "evolve sessions show 4f1c",
	"kernel":          "evolve kernel show dataviz\nevolve kernel confirm dataviz",
	"kernel show":     "evolve kernel show dataviz",
	"kernel check":    "evolve kernel check dataviz\nevolve kernel check ./SKILL.md",
	"kernel confirm":  "evolve kernel confirm dataviz",
	"doctor":          "evolve doctor\nevolve doctor --base-url http://127.0.0.1:11434/v1",
	"sleep run":       "evolve sleep run --dry-run\nevolve sleep run --max-cost-usd 2 --policy auto",
	"sleep uninstall": "evolve sleep uninstall",
	"sleep status":    "evolve sleep status",
	"hooks uninstall": "evolve hooks uninstall",
	"hooks status":    "evolve hooks status",
	"help":            "evolve help promote\nevolve help exit-codes",
}

// Add gives the commands below root their places, examples and texts, and adds help
// itself. unknown is the error for a word that is no command of c.
func Add(root *cobra.Command, unknown func(c *cobra.Command, word string) error) {
	help := &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command or a topic",
		RunE: func(c *cobra.Command, args []string) error {
			of, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				if of == nil || of == root && len(rest) == 0 {
					of, rest = root, args
				}
				return unknown(of, rest[0])
			}
			return of.Help()
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, begun string) (names []string, _ cobra.ShellCompDirective) {
			if of, rest, err := root.Find(args); err == nil && len(rest) == 0 {
				for _, c := range of.Commands() {
					if !c.Hidden && strings.HasPrefix(c.Name(), begun) {
						names = append(names, c.Name()+"\t"+c.Short)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
	root.SetHelpCommand(help)
	root.AddCommand(help)
	for _, t := range topics() {
		root.AddCommand(t)
	}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range root.Commands() {
			if slices.Contains(strings.Fields(g.commands), c.Name()) {
				c.GroupID = g.id
			}
		}
	}
	Each(root, func(c *cobra.Command) {
		// --help explains itself, and stands in every list otherwise.
		c.InitDefaultHelpFlag()
		c.Flags().Lookup("help").Hidden = true
		if e := examples[PathOf(c)]; c.Example == "" && e != "" {
			c.Example = "  " + strings.ReplaceAll(e, "\n", "\n  ")
		}
	})
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { Write(c.OutOrStdout(), c) })
	root.SetUsageFunc(func(c *cobra.Command) error { Write(c.OutOrStderr(), c); return nil })
}

// Each calls f with c and every command below it.
func Each(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		Each(sub, f)
	}
}

// PathOf is a command's name without the program's.
func PathOf(c *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), c.Root().Name()), " ")
}

// visible are the subcommands that help lists, by name within a group.
func visible(c *cobra.Command) (out []*cobra.Command) {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			out = append(out, sub)
		}
	}
	return out
}

// Write explains a command; what cannot be written is nobody's loss.
func Write(w io.Writer, c *cobra.Command) {
	var b strings.Builder
	text := c.Long
	if text == "" {
		text = c.Short
	}
	b.WriteString(Folded(text))
	root := c == c.Root()
	switch {
	case c.IsAdditionalHelpTopicCommand():
		io.WriteString(w, b.String())
		return
	case root:
		b.WriteString("\nusage: evolve --skill NAME [flags]\n       evolve COMMAND\n")
		writeGroups(&b, c)
	default:
		fmt.Fprintf(&b, "\nusage: %s\n", usageLine(c))
		if subs := visible(c); len(subs) > 0 {
			b.WriteString("\n")
			writeCommands(&b, subs)
		}
	}
	if c.Example != "" {
		b.WriteString("\nexamples:\n")
		for line := range strings.SplitSeq(strings.TrimRight(c.Example, "\n"), "\n") {
			if typed, why, ok := cutLast(line, "   "); ok && plain.Width(line) > width {
				line = strings.TrimRight(typed, " ") + "\n      " + why
			}
			b.WriteString(line + "\n")
		}
	}
	if own := c.LocalFlags(); own.HasAvailableFlags() && !root {
		b.WriteString("\nflags:\n" + own.FlagUsagesWrapped(width))
	}
	if root {
		b.WriteString("\nflags of every command:\n" + c.PersistentFlags().FlagUsagesWrapped(width))
		b.WriteString("\n`evolve help run` lists the flags of a run, `evolve help COMMAND` any other's.\ntopics: ")
		for i, t := range topics() {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString("`evolve help " + t.Name() + "`")
		}
		b.WriteString("\n")
	} else {
		b.WriteString("\nflags of every command: --json -q --claude-home --skills-dir (`evolve help`)\n")
	}
	io.WriteString(w, b.String())
}

// usageLine is a command's, with its flags where it has some.
func usageLine(c *cobra.Command) string {
	line := c.Parent().CommandPath() + " " + c.Use
	if c.HasSubCommands() {
		return line + " COMMAND"
	}
	if c.LocalNonPersistentFlags().HasAvailableFlags() && !strings.Contains(line, "[flags]") {
		line += " [flags]"
	}
	return line
}

// writeGroups lists the commands under their headings.
func writeGroups(b *strings.Builder, root *cobra.Command) {
	for _, g := range groups {
		var in []*cobra.Command
		for _, name := range strings.Fields(g.commands) {
			for _, c := range visible(root) {
				if c.Name() == name {
					in = append(in, c)
				}
			}
		}
		if len(in) > 0 {
			b.WriteString("\n" + g.title + "\n")
			writeCommands(b, in)
		}
	}
}

func writeCommands(b *strings.Builder, list []*cobra.Command) {
	const pad = 12
	for _, c := range list {
		for i, line := range strings.Split(strings.TrimRight(wrap(c.Short, width-pad-2), "\n"), "\n") {
			name := c.Name()
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(b, "  %-*s%s\n", pad, name, line)
		}
	}
}

// Folded is text whose lines fit: a paragraph with one that is too long is folded
// anew, everything else stays as it is.
func Folded(text string) string {
	var b strings.Builder
	var paragraph []string
	flush := func() {
		if slices.ContainsFunc(paragraph, func(l string) bool { return plain.Width(l) > width }) {
			b.WriteString(wrap(strings.Join(paragraph, " "), width))
		} else if len(paragraph) > 0 {
			b.WriteString(strings.Join(paragraph, "\n") + "\n")
		}
		paragraph = nil
	}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if line == "" || strings.HasPrefix(line, " ") {
			flush()
			b.WriteString(line + "\n")
			continue
		}
		paragraph = append(paragraph, line)
	}
	flush()
	return b.String()
}

// wrap folds text between words.
func wrap(text string, width int) string {
	var b strings.Builder
	used := 0
	for _, word := range strings.Fields(text) {
		n := plain.Width(word)
		switch {
		case used > 0 && used+1+n > width:
			b.WriteString("\n")
			used = 0
		case used > 0:
			b.WriteString(" ")
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String() + "\n"
}

// cutLast cuts s at the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// Markdown is docs/cli.md: the help of root and of every command below it.
func Markdown(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(`# Commands

What ` + "`evolve help COMMAND`" + ` says, on one page. Written by
` + "`go generate ./cmd/evolve`" + `; edit the commands, not this file.
`)
	section := func(c *cobra.Command, level string) {
		var help bytes.Buffer
		Write(&help, c)
		fmt.Fprintf(&b, "\n%s %s\n\n```text\n%s```\n", level, c.CommandPath(), help.String())
	}
	section(root, "##")
	for _, g := range groups {
		for _, name := range strings.Fields(g.commands) {
			for _, c := range root.Commands() {
				if c.Name() != name {
					continue
				}
				section(c, "##")
				for _, sub := range visible(c) {
					section(sub, "###")
				}
			}
		}
	}
	for _, t := range topics() {
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s```\n", t.Short, Folded(t.Long))
	}
	return b.String()
}
