package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCommand(a *global) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print which evolve this is, for reports of bugs",
		Example: "  evolve version",
		Args:    noArgs,
		RunE:    func(*cobra.Command, []string) error { return printVersion(a) },
	}
}

// printVersion prints the release, or the commit that the program was built from.
func printVersion(a *global) error {
	v, commit := "unknown", ""
	if b, ok := debug.ReadBuildInfo(); ok {
		v = b.Main.Version
		for _, s := range b.Settings {
			switch s.Key {
			case "vcs.revision":
				commit = s.Value
			case "vcs.modified":
				if s.Value == "true" {
					commit += ", changed"
				}
			}
		}
	}
	text := "evolve " + v
	if commit != "" {
		text += fmt.Sprintf(" (%s)", commit)
	}
	return a.Print(map[string]any{"schema": 1, "version": v, "commit": commit, "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH},
		fmt.Sprintf("%s\n%s on %s/%s\n", text, runtime.Version(), runtime.GOOS, runtime.GOARCH))
}
