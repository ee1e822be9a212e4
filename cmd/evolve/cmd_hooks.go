package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooklearn"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/hooktest"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/hookuse"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/newhook"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/consent"
	"github.com/skill-evolve/evolve/harvest/hook"
	"github.com/skill-evolve/evolve/harvest/hook/settings"
	"github.com/spf13/cobra"
)

func newHooksCommand(a *global) *cobra.Command {
	c := &cobra.Command{
		Use:   "hooks",
		Short: "Record uses of skills in Claude Code as they happen",
		Long: `With hooks installed, every use of a skill is recorded as it happens, with the
text that was loaded; "$name" in a prompt loads a skill; the next session
reports what changed overnight; and a text in quarantine is not loaded. A hook
takes milliseconds, opens no connection, and never stops a session because it
failed.`,
		Example: "  evolve hooks install\n  evolve hooks status\n  evolve hooks uninstall\n  evolve hooks new no-force",
	}
	var project bool
	var plugin string
	place := func(s *cobra.Command, withPlugin bool) *cobra.Command {
		s.Flags().BoolVar(&project, "project", false, "the settings of the project in the current folder, not your own")
		if withPlugin {
			s.Flags().StringVar(&plugin, "plugin", "", "write a Claude Code plugin into this folder, and no settings")
		}
		return s
	}
	var show bool
	install := &cobra.Command{Use: "install", Short: "Add the hooks to settings.json", Args: noArgs,
		Example: "  evolve hooks install\n  evolve hooks install --print\n  evolve hooks install --plugin ~/evolve-plugin",
		RunE:    func(*cobra.Command, []string) error { return hooksInstall(a, project, plugin, show) }}
	install.Flags().BoolVar(&show, "print", false, "print what would be added, and change nothing")
	tests := hookTests(a)
	var since string
	status := &cobra.Command{Use: "status", Short: "Say which hooks are installed, what they last noted, and what your guards stopped", Args: noArgs,
		Long: `status says whether evolve's hooks are installed and what they noted. Of each other hook
that your settings, or those of the project in the current folder, call before a tool, it
says what it did in your sessions: the calls that it stopped or had you asked about,
whether the agent came back with them, and what you said next.`,
		Example: "  evolve hooks status\n  evolve hooks status --since 90d --json",
		RunE:    func(c *cobra.Command, _ []string) error { return hooksStatus(c.Context(), a, tests, project, since) }}
	status.Flags().StringVar(&since, "since", "30d", "how far back sessions are read for what guards did")
	parent(c, place(install, true),
		place(&cobra.Command{Use: "uninstall", Short: "Take out what install added", Example: "  evolve hooks uninstall", Args: noArgs,
			RunE: func(*cobra.Command, []string) error { return hooksUninstall(a, project) }}, false),
		place(status, false), newhook.Command(&a.Terminal))
	c.AddCommand(append(tests.Commands(), hooklearn.Parts{Parts: correctionsParts(a), Tests: tests}.Command())...)
	return c
}

func hookTests(a *global) hooktest.Parts {
	return hooktest.Parts{Terminal: &a.Terminal, Layout: a.layout, Redactor: a.redactor, Program: ownProgram, Store: a.existingStore,
		Gate: func() (*consent.Gate, error) { return a.projects(harvestFlags{}).Decided() }}
}

// settingsFile is the settings file to edit.
func settingsFile(a *global, project bool) (string, error) {
	if project {
		dir, err := os.Getwd()
		if err != nil {
			return "", fmt.Errorf("find the project: %w", err)
		}
		return filepath.Join(dir, ".claude", "settings.json"), nil
	}
	c, err := a.layout().Claude()
	return filepath.Join(c, "settings.json"), err
}

// settingsEditor edits the settings of agents in the file at path.
func settingsEditor(a *global, project bool) (path string, e *settings.Editor, err error) {
	if path, err = settingsFile(a, project); err != nil {
		return "", nil, err
	}
	home, err := a.home()
	return path, &settings.Editor{Dir: home, Now: a.Now}, err
}

// hookProgram is the command by which a shell calls this program. It includes
// a data folder that was set by a variable, because an agent started
// elsewhere does not have it.
func hookProgram(a *global) (string, error) {
	exe, err := ownProgram()
	if err != nil {
		return "", err
	}
	name, home := plain.Arg(exe), a.Getenv("EVOLVE_HOME")
	if !strings.Contains(filepath.Base(exe), "evolve") {
		return "", problem.Inputf("call it evolve", "hooks are recognised by the name of their program, and this one is called %s", filepath.Base(exe))
	}
	if home == "" {
		return name, nil
	}
	if home, err = filepath.Abs(home); err != nil {
		return "", fmt.Errorf("find the data folder: %w", err)
	}
	return "EVOLVE_HOME=" + plain.Arg(home) + " " + name, nil
}

func hooksInstall(a *global, project bool, plugin string, show bool) error {
	program, err := hookProgram(a)
	if err != nil {
		return err
	}
	if show {
		_, err := a.Stdout.Write(hook.Fragment(program))
		return err
	}
	if plugin != "" {
		dir, err := filepath.Abs(plugin)
		if err != nil {
			return fmt.Errorf("find the plugin's folder: %w", err)
		}
		changed, err := hook.WritePlugin(dir, program)
		if err != nil {
			return err
		}
		return printHooks(a, &settings.Edit{Schema: 1, Path: dir, Changed: changed, Events: hook.Events},
			"the plugin is in %s", "the plugin in %s is up to date", "`claude --plugin-dir "+plain.Arg(dir)+"` starts a session with it")
	}
	path, e, err := settingsEditor(a, project)
	if err != nil {
		return err
	}
	r, err := e.Install(path, program)
	if err != nil {
		return err
	}
	return printHooks(a, r, "the hooks are in %s", "the hooks are in %s already", "they work from the next session on; `evolve hooks uninstall"+map[bool]string{true: " --project"}[project]+"` takes them out")
}

func hooksUninstall(a *global, project bool) error {
	path, e, err := settingsEditor(a, project)
	if err != nil {
		return err
	}
	r, err := e.Uninstall(path)
	if err != nil {
		return err
	}
	return printHooks(a, r, "the hooks were removed from %s", "%s has no hooks of evolve", "what they recorded is kept; `evolve harvest` reads it")
}

func printHooks(a *global, r *settings.Edit, changed, same, next string) error {
	if a.JSON {
		return a.PrintJSON(r)
	}
	say := same
	if r.Changed {
		say = changed
	}
	_, err := fmt.Fprintf(a.Stdout, say+"\n", r.Path)
	if err == nil && r.Backup != "" {
		_, err = fmt.Fprintf(a.Stdout, "  backup  %s\n", r.Backup)
	}
	if err == nil && r.Changed {
		_, err = fmt.Fprintf(a.Stdout, "  next    %s\n", next)
	}
	return err
}

func hooksStatus(ctx context.Context, a *global, tests hooktest.Parts, project bool, since string) error {
	path, e, err := settingsEditor(a, project)
	if err != nil {
		return err
	}
	program, err := hookProgram(a)
	if err != nil {
		return err
	}
	s, err := e.State(path, program)
	if err != nil {
		return err
	}
	use, err := hookuse.Read(ctx, tests, string(e.Dir), since)
	if err != nil {
		return err
	}
	return printHooksState(a, s, use)
}

func printHooksState(a *global, s *settings.State, use *hookuse.Report) error {
	var b strings.Builder
	next := ""
	switch s.State {
	case "none":
		fmt.Fprintf(&b, "%s has no hooks of evolve\n", s.Path)
		next = "`evolve hooks install` adds them"
	case "off":
		fmt.Fprintf(&b, "the hooks are in %s, which turns all hooks off (disableAllHooks)\n", s.Path)
	case "incomplete":
		fmt.Fprintf(&b, "the hooks are in %s, but for %s\n", s.Path, strings.Join(s.Missing, ", "))
		next = "`evolve hooks install` adds what is missing"
	case "elsewhere":
		fmt.Fprintf(&b, "the hooks are in %s, and call another program than this one: %s\n", s.Path, s.Command)
		next = "`evolve hooks install` points them to this one"
	default:
		fmt.Fprintf(&b, "the hooks are in %s\n", s.Path)
	}
	last := ""
	if at, err := time.Parse(time.RFC3339Nano, s.Last); err == nil {
		last = ", the last on " + at.Local().Format("2006-01-02 15:04")
	}
	fmt.Fprintf(&b, "  noted   %s of skills%s\n  queued  %s for the next harvest\n", plain.Counted(s.Noted, "event"), last, plain.Counted(s.Queued, "transcript"))
	if s.Unwritable != "" {
		fmt.Fprintf(&b, "  nothing can be recorded: %s\n", oneLine(s.Unwritable))
	}
	if s.Notes > 0 {
		fmt.Fprintf(&b, "  notes   %s for the next session\n", plain.Counted(s.Notes, "note"))
	}
	if next != "" {
		fmt.Fprintf(&b, "  next    %s\n", next)
	}
	b.WriteString(use.Text())
	return a.Print(struct {
		*settings.State
		Use *hookuse.Report `json:"use,omitempty"`
	}{s, use}, b.String())
}
