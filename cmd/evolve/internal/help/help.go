// Package help prints the help of commands and of topics.
package help

import (
	_ "embed" // the texts
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/spf13/cobra"
)

var (
	//go:embed help.tmpl
	layout string
	//go:embed topics/exit-codes.txt
	exitCodes string
	//go:embed topics/environment.txt
	environment string
	//go:embed topics/cases-format.txt
	casesFormat string
	//go:embed topics/files.txt
	files string
)

// width is the width of help, in columns.
const width = 80

func init() { cobra.EnableCommandSorting = false } // commands are listed in the order in which they are added

// Add adds help and its topics to a root whose help is in group, and makes
// --help print Text. unknown makes the error for an argument that is no
// command of c.
//
// config is the topic of that name.
func Add(root *cobra.Command, group, config string, unknown func(c *cobra.Command, word string) error) {
	root.PersistentFlags().BoolP("help", "h", false, "")
	root.Flag("help").Hidden = true // it explains itself
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"}) // cobra has added it
	help.Use, help.Short, help.Long, help.GroupID = "help [COMMAND]", "Explain a command or a topic", "", group
	help.Example = "  evolve help promote\n  evolve help exit-codes"
	help.RunE = func(c *cobra.Command, args []string) error {
		of, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			if of == nil || of == root && len(rest) == 0 {
				of, rest = root, args
			}
			return unknown(of, rest[0])
		}
		return of.Help()
	}
	commands := help.ValidArgsFunction // cobra's, which leaves topics out
	help.ValidArgsFunction = func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		found, directive := commands(c, args, begun)
		for _, t := range root.Commands() {
			if len(args) == 0 && t.IsAdditionalHelpTopicCommand() && strings.HasPrefix(t.Name(), begun) {
				found = append(found, t.Name()+"\t"+t.Short)
			}
		}
		return found, directive
	}
	root.AddCommand(allTopics(config)...)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { io.WriteString(c.OutOrStdout(), Text(c)) })
	root.SetUsageFunc(func(c *cobra.Command) error { _, err := io.WriteString(c.OutOrStderr(), Text(c)); return err })
}

var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("help").Funcs(template.FuncMap{
		"flow":   flow,
		"groups": groups,
		"listed": func(c *cobra.Command) bool { return c.IsAvailableCommand() || c.Name() == "help" },
		"topics": func(root *cobra.Command) []*cobra.Command {
			return slices.DeleteFunc(slices.Clone(root.Commands()), func(c *cobra.Command) bool { return !c.IsAdditionalHelpTopicCommand() })
		},
	}).Parse(layout))
})

// flow joins the lines of a paragraph, which help folds later. An indented
// line stays a line of its own.
func flow(s string) string {
	var b strings.Builder
	last := ""
	for line := range strings.Lines(strings.TrimRight(s, "\n")) {
		line = strings.TrimRight(line, "\n")
		switch {
		case b.Len() == 0:
		case line == "" || last == "" || strings.HasPrefix(line, " ") || strings.HasPrefix(last, " "):
			b.WriteByte('\n')
		default:
			b.WriteByte(' ')
		}
		b.WriteString(line)
		last = line
	}
	return b.String()
}

// Text is the help of a command or a topic.
func Text(c *cobra.Command) string {
	var b strings.Builder
	if err := page().Execute(&b, c); err != nil {
		panic(err) // the template is part of the program
	}
	return plain.Fold(strings.TrimRight(b.String(), "\n")+"\n", width)
}

// PathOf is a command's path without the program's name.
func PathOf(c *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), c.Root().Name()), " ")
}

// Each calls f with c and every command below it.
func Each(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		Each(sub, f)
	}
}

// allTopics are the topics of `evolve help TOPIC`; the first line of each is
// its title.
func allTopics(config string) (out []*cobra.Command) {
	for _, t := range [][2]string{{"exit-codes", exitCodes}, {"environment", environment}, {"files", files}, {"config", config}, {"cases-format", casesFormat}} {
		title, body, _ := strings.Cut(t[1], "\n\n")
		out = append(out, &cobra.Command{Use: t[0], Short: title, Long: strings.Replace(body, "KEYS\n", keys(), 1)})
	}
	return out
}

// keys lists the environment variables of the backends.
func keys() string {
	var b strings.Builder
	for _, k := range agent.Kinds() {
		names := slices.Clone(k.Credentials)
		if k.BaseEnv != "" {
			names = append(names, k.BaseEnv)
		}
		if len(names) > 0 {
			fmt.Fprintf(&b, "  %-10s  %s\n", k.Name, strings.Join(names, ", "))
		}
	}
	return b.String() + "\n"
}
