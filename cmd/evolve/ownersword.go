package main

import (
	"github.com/skill-evolve/evolve/cmd/evolve/internal/help"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ownersCommands are the commands that are the owner's word, by their paths, and what
// each of them does. What depends on more than the command line (a text that is not
// proved, a page of serve) asks ownersWord itself.
var ownersCommands = map[string]string{
	"approve":        "approving a text",
	"review":         "judging answers",
	"kernel confirm": "confirming a kernel",
	"hooks install":  "installing hooks",
}

// ownersFlags are the flags that are the owner's word, with the value that is.
var ownersFlags = []struct{ name, value, what string }{
	{"trust-checks", "true", "trusting checks that run programs"},
	{"sandbox", "none", "running agents without a sandbox"},
	{"force", "true", "--force"},
}

// ownersActs refuses a command that is the owner's word if an agent types it.
func ownersActs(a *global, c *cobra.Command) error {
	if what := ownersCommands[help.PathOf(c)]; what != "" {
		return ownersWord(a, what)
	}
	return ownersFlagsIn(a, c.Flags())
}

func ownersFlagsIn(a *global, flags *pflag.FlagSet) error {
	for _, o := range ownersFlags {
		if f := flags.Lookup(o.name); f != nil && f.Value.String() == o.value {
			return ownersWord(a, o.what)
		}
	}
	return nil
}

// ownersWord refuses an act if an agent types it: text that an agent has read may tell
// it to approve its own edit. It keeps out an agent that types commands, not a program
// that hides what started it.
func ownersWord(a *global, what string) error {
	if a.machine.typist == nil {
		return nil
	}
	return problem.Refusef("type the command in a terminal of your own",
		"%s is the owner's decision, and this was typed in a session of %s (%s)", what, a.machine.typist.Name, a.machine.typist.Sign)
}
