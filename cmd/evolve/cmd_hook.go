package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/ending"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/spf13/cobra"
)

// newHookCommand is the command that agents run at the events of a session.
// It is hidden: `evolve hooks install` writes it into their settings.
func newHookCommand(a *global) *cobra.Command {
	return &cobra.Command{
		Use:    "hook EVENT",
		Short:  "Answer one event of a session (called by agents)",
		Hidden: true,
		// A usage error would exit with the code that tells an agent to stop,
		// so a hook accepts any arguments.
		Args:               cobra.ArbitraryArgs,
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			return &quietExit{runHook(a, args)}
		},
	}
}

// fastHook answers `evolve hook EVENT` before the command tree is built,
// because an agent waits for it. done is false for every other command.
func fastHook(m machine, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int, done bool) {
	if len(args) == 0 || args[0] != "hook" {
		return 0, false
	}
	if len(args) > 1 && (args[1] == "-h" || args[1] == "--help") {
		return 0, false
	}
	a := newGlobal(stdin, stdout, stderr)
	a.machine = m // its policy may exclude projects
	return runHook(a, args[1:]), true
}

// runHook takes EVENT and the folders among globalFlags, and accepts anything
// else: an agent's settings outlive the program that wrote them.
func runHook(a *global, args []string) int {
	event := ""
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		if !given && i+1 < len(args) {
			value = args[i+1]
		}
		switch name {
		case "--claude-home":
			a.claudeHome = value
		case "--skills-dir":
			a.skillDir = value
		case "-h", "--help":
			fmt.Fprintln(a.Stdout, "usage: evolve hook EVENT < input.json (called by agents; `evolve hooks install` sets it up)")
			return hook.Go
		default:
			if event == "" && !strings.HasPrefix(name, "-") {
				event = args[i]
			}
			continue
		}
		if !given {
			i++
		}
	}
	host, err := hookHost(a)
	if err != nil {
		fmt.Fprintf(a.Stderr, "evolve hook: %v\n", err)
		return hook.Failed
	}
	return host.Run(event, a.Stdin, a.Stdout, a.Stderr)
}

// hookHost returns the host that runs this user's hooks.
func hookHost(a *global) (*hook.Host, error) {
	home, err := a.home()
	if err != nil {
		return nil, err
	}
	claude, err := a.layout().Claude()
	if err != nil {
		return nil, err
	}
	// Claude Code sets it to 0 in sessions that a program drives (2.1.329).
	unattended := a.Getenv("CLAUDE_CODE_SESSION_ATTENDED") == "0"
	h := &hook.Host{Home: string(home), Claude: claude, Skills: a.skillDir, Unattended: unattended, Now: a.Now, Redactor: a.redactor(), Allowed: a.projects(harvestFlags{}).Notes}
	if a.machine.detach != nil {
		args := []string{"harvest", "--ended", "--claude-home", claude}
		if a.skillDir != "" {
			args = append(args, "--skills-dir", a.skillDir)
		}
		h.Harvest = func() error {
			if ending.Underway(home) {
				return nil
			}
			return a.machine.detach(h.Home, args...)
		}
	}
	return h, nil
}
