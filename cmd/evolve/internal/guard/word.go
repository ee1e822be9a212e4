// Package guard refuses commands that only the owner may give if an agent
// types them, and those that the machine's policy forbids.
package guard

import (
	"github.com/skill-evolve/evolve/cmd/evolve/internal/owner"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/spf13/pflag"
)

// Commands are the commands that only the owner may give, by their paths,
// with what each of them does. A command that depends on more than its
// command line calls Word itself.
var Commands = map[string]string{
	"approve":        "approving a text",
	"review":         "judging answers",
	"try":            "putting a text in place that is not shown to be better",
	"kernel confirm": "confirming locked lines",
	"kernel probes":  "approving kernel probes",
	"projects allow": "allowing projects to be read",
	"hooks install":  "installing hooks",
	"sessions purge": "purging sessions",
	"init":           "setting evolve up",
	"privacy agree":  "agreeing to what is sent",
	"fleet serve":    "opening this machine to others",
	"fleet invite":   "inviting a machine",
	"worker":         "working for other machines",
}

// Flags are the flags that only the owner may give, with the value that makes
// them so; "" is any.
var Flags = []struct{ Name, value, what string }{
	{"trust-checks", "true", "trusting checks that run programs"},
	{"sandbox", "none", "running agents without a sandbox"},
	{"force", "true", "--force"},
	{"for-everyone", "true", "giving others a text that one person's sessions speak for"},
	{"with-quotes", "true", "quoting sessions to others"},
	{"try", "true", "putting texts in place that are not shown to be better"},
	{"off", "true", "taking a pin away"},
	{"setup", "", "preparing dependencies by a command"},
	{"setup-network", "", "opening the network to a command"},
	{"moments", "", "what is kept of agents' work"},
	{"confirm", "", "confirming tests that may run"},
}

// Protects reports whether a command takes back what was allowed, stored or installed: it
// works under a policy that cannot be read, too.
func Protects(path string) bool {
	return path == "projects deny" || path == "sessions purge" || path == "rollback" || path == "fleet revoke"
}

// Command refuses a command that only the owner may give if an agent types
// it.
func Command(typist *owner.Agent, path string, flags *pflag.FlagSet) error {
	if what := Commands[path]; what != "" {
		return Word(typist, what)
	}
	for _, o := range Flags {
		if f := flags.Lookup(o.Name); f != nil && (o.value == "" && f.Changed || o.value != "" && f.Value.String() == o.value) {
			return Word(typist, o.what)
		}
	}
	return nil
}

// Word refuses an act if an agent types it: text that an agent has read may tell it to
// approve its own edit. It keeps out an agent that types commands, not a program that
// hides what started it.
func Word(typist *owner.Agent, what string) error {
	if typist == nil {
		return nil
	}
	return problem.Refusef("type the command in a terminal of your own",
		"%s is the owner's decision, and this was typed in a session of %s (%s)", what, typist.Name, typist.Sign)
}
