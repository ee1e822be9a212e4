package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/spf13/cobra"
)

//go:generate go test -run TestDocs -update .

// cliMarkdown is docs/cli.md: the help of every command.
func cliMarkdown() string {
	var b strings.Builder
	b.WriteString(`# Commands

What ` + "`evolve help COMMAND`" + ` says, on one page. Written by
` + "`go generate ./cmd/evolve`" + `; edit the commands, not this file.
`)
	root := newRoot(&global{Terminal: term.Terminal{Getenv: func(string) string { return "" }}})
	section := func(c *cobra.Command, level string) {
		var help bytes.Buffer
		writeHelp(&help, c)
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
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s```\n", t.Short, folded(t.Long))
	}
	return b.String()
}
