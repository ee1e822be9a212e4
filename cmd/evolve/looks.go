package main

import (
	"slices"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/help"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/spf13/cobra"
)

// lookers are the commands that only read, by their paths. `evolve report`
// and `evolve compare --recorded` write their page and nothing else.
var lookers = []string{
	"status", "runs", "version", "log", "show", "diff", "report", "resolve", "doctor", "serve", "help", "completion",
	"cases", "cases list", "cases show", "cases export", "cases new", "cases check", "sessions", "sessions list",
	"privacy", "projects", "projects list", "kernel", "kernel show", "kernel check", "hooks", "hooks status", "hooks deliver", "sleep", "sleep status", "fleet", "fleet invitations", "fleet status",
}

// accessOf is the access that the typed command needs.
func accessOf(c *cobra.Command) datadir.Access {
	path := help.PathOf(c)
	on := func(flag string) bool {
		f := c.Flags().Lookup(flag)
		return f != nil && f.Value.String() == "true"
	}
	switch {
	case slices.Contains(lookers, path), strings.HasPrefix(c.Name(), cobra.ShellCompRequestCmd), on("print"):
		return datadir.Looks
	case (path == "compare" || path == "cases generate") && (on("dry-run") || on("recorded")): // a forecast is made of what is stored
		return datadir.Looks
	case path == "corrections" && !on("read"):
		return datadir.Looks
	case on("dry-run"), path == "sessions show": // which plans a purge
		return datadir.Tries
	}
	return datadir.Writes
}
