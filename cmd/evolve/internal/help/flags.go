package help

import (
	"slices"

	"github.com/spf13/pflag"
)

// A group is the flags of a command that belong together.
type group struct {
	Title string
	Flags *pflag.FlagSet
}

// manyFlags is how many flags a command shows in one list.
const manyFlags = 15

// titles are the groups of a command with more flags; those that are in none come first.
var titles = []string{"flags", "budget", "agent", "advanced: agent", "advanced: search"}

var groupOf = map[string]string{
	"max-rollouts": "budget", "max-cost-usd": "budget", "max-tokens": "budget", "max-duration": "budget", "confirm-over-usd": "budget", "yes": "budget",

	"agent": "agent", "model": "agent", "search-model": "agent", "reflect-agent": "agent", "reflect-model": "agent",
	"judge-agent": "agent", "judge-model": "agent", "sandbox": "agent", "context": "agent",

	"base-url": "advanced: agent", "api-key-env": "advanced: agent", "price-in": "advanced: agent", "price-out": "advanced: agent",
	"command": "advanced: agent", "pass-env": "advanced: agent", "allow-host": "advanced: agent", "handoff-dir": "advanced: agent",
	"no-wait": "advanced: agent", "setup": "advanced: agent", "setup-network": "advanced: agent",
	"concurrency": "advanced: agent", "rate": "advanced: agent", "timeout": "advanced: agent", "max-retries": "advanced: agent",

	"seed": "advanced: search", "minibatch": "advanced: search", "proposals": "advanced: search", "patience": "advanced: search",
	"select": "advanced: search", "accept": "advanced: search", "batch": "advanced: search", "stop": "advanced: search", "profile": "advanced: search",
}

func groups(all *pflag.FlagSet) (out []group) {
	sets := map[string]*pflag.FlagSet{}
	for _, title := range titles {
		sets[title] = pflag.NewFlagSet("", pflag.ContinueOnError)
		sets[title].SortFlags = all.SortFlags
	}
	var shown []*pflag.Flag
	all.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			shown = append(shown, f)
		}
	})
	for _, f := range shown {
		title := groupOf[f.Name]
		if title == "" || len(shown) <= manyFlags {
			title = titles[0]
		}
		sets[title].AddFlag(f)
	}
	for _, title := range titles {
		out = append(out, group{title, sets[title]})
	}
	return slices.DeleteFunc(out, func(g group) bool { return !g.Flags.HasFlags() })
}
