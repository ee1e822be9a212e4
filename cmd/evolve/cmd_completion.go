package main

import (
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/completion"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/usage"
	"github.com/spf13/cobra"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletionCommand(*global) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the completion script of a shell",
		Long: `completion prints a script for your shell. It completes skills, versions, runs,
cases and flags from the disk and the store as they are at that moment, and
writes nothing.`,
		Example: `  source <(evolve completion bash)        # this shell; or in ~/.bashrc
  evolve completion zsh >"${fpath[1]}/_evolve"
  evolve completion fish >~/.config/fish/completions/evolve.fish
  evolve completion powershell | Out-String | Invoke-Expression`,
		Args:      exactArgs(1, "a shell: "+strings.Join(shells, ", ")),
		ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			root, out := c.Root(), c.OutOrStdout()
			switch args[0] {
			case "bash":
				return completion.Bash(root, out)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return usage.UnknownWord("shell", args[0], shells)
		},
	}
}
