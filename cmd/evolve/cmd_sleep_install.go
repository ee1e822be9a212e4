package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/envfile"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/guard"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/timer"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newSleepInstallCommand(a *global) *cobra.Command {
	var at, with, envFile string
	var print, yes, noPing bool
	c := &cobra.Command{
		Use:   "install --at HH:MM [-- FLAGS OF sleep run]",
		Short: "Start a night every day, by systemd, launchd or cron",
		Long: `install writes a timer for the nights, and shows it first. A night has none of this
shell's keys: --env-file names the file that it reads them from. Before the timer
is written, the agent is asked one question of a few words with what the night
will have; if it does not answer, nothing is installed.`,
		Example: "  evolve sleep install --at 03:17 --print\n  evolve sleep install --at 03:17 --env-file ~/.config/evolve/env\n  evolve sleep install --at 03:17 -- --policy auto --max-cost-usd 2 --only-on-ac",
		RunE: func(c *cobra.Command, args []string) error {
			if c.ArgsLenAtDash() != 0 && len(args) > 0 {
				return problem.Inputf("flags of the night come after --: evolve sleep install --at 03:17 -- --max-cost-usd 2", "unexpected %q", args[0])
			}
			if envFile != "" {
				path, err := filepath.Abs(envFile)
				if err != nil {
					return fmt.Errorf("find --env-file: %w", err)
				}
				args = append([]string{"--env-file", path}, args...)
			}
			return sleepInstall(c.Context(), a, at, with, args, print, yes, noPing)
		},
	}
	c.Flags().StringVar(&at, "at", "", "time of day, for example 03:17")
	c.Flags().StringVar(&with, "with", "", "systemd, launchd or cron (default: what this machine has)")
	c.Flags().StringVar(&envFile, "env-file", "", "the file of your own, mode 0600, from which nights read keys, a NAME=value a line")
	c.Flags().BoolVar(&noPing, "no-ping", false, "do not ask the agent first, as a night would, one tiny question")
	c.Flags().BoolVar(&print, "print", false, "show what would be written, and write nothing")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func newSleepUninstallCommand(a *global) *cobra.Command {
	return &cobra.Command{
		Use:     "uninstall",
		Short:   "Take away exactly what install wrote",
		Example: "  evolve sleep uninstall",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return sleepUninstall(c.Context(), a) },
	}
}

// timersOf returns this user's timers.
func timersOf(a *global) *timer.System {
	return &timer.System{ConfigHome: a.Getenv("XDG_CONFIG_HOME"), Say: a.Say}
}

func sleepInstall(ctx context.Context, a *global, at, with string, args []string, print, yes, noPing bool) error {
	t, night, err := newTimer(a, at, with, args)
	if err != nil {
		return err
	}
	p, err := timersOf(a).Plan(ctx, t)
	if err != nil {
		return err
	}
	if p.Blocked != nil && !print {
		return p.Blocked
	}
	if p.Crontab != "" {
		fmt.Fprintf(a.Stdout, "two lines of the crontab:\n%s", p.Crontab)
	}
	for _, f := range p.Files {
		fmt.Fprintf(a.Stdout, "%s:\n%s\n", f.Path, f.Content)
	}
	words, err := forecastTimer(ctx, a, night)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.Stdout, words)
	keys := envfile.Lacks(a.Getenv, t.Args)
	if print {
		if keys != "" {
			a.Say("%s", keys)
		}
		return nil
	}
	if done, err := p.InPlace(ctx); err != nil {
		return err
	} else if done {
		fmt.Fprintf(a.Stdout, "nothing to change\n")
		return nil
	}
	if !noPing {
		a.Say("first the agent is asked one question of a few words, which costs what such a request costs")
	}
	if !yes && term.IsTerminal(a.Stdin) {
		if ok, err := a.Confirm("Install it?"); err != nil {
			return err
		} else if !ok {
			return &problem.Error{Kind: problem.Stopped, Err: errors.New("nothing was installed"), Hint: "add --yes"}
		}
	}
	if noPing && keys != "" {
		a.Say("%s", keys)
	} else if !noPing {
		said, err := t.Ping(ctx)
		if err != nil {
			return envfile.Unproved(err, keys)
		}
		fmt.Fprintf(a.Stdout, "as a night: %s\n", said)
	}
	if err := p.Apply(ctx); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "installed: a night every day at %s\nnext: `evolve sleep status`; `evolve sleep uninstall` takes it away\n", t.At())
	return nil
}

func sleepUninstall(ctx context.Context, a *global) error {
	gone, err := timersOf(a).Uninstall(ctx)
	for _, path := range gone.Files {
		fmt.Fprintf(a.Stdout, "removed %s\n", path)
	}
	if gone.Crontab {
		fmt.Fprintf(a.Stdout, "removed two lines of the crontab\n")
	}
	if err == nil && len(gone.Files) == 0 && !gone.Crontab {
		fmt.Fprintf(a.Stdout, "no timer is installed\n")
	}
	return err
}

// newTimer reads the flags of install, and those of the nights after --.
func newTimer(a *global, at, with string, args []string) (t *timer.Timer, flags runFlags, err error) {
	t = &timer.Timer{}
	if t.Hour, t.Minute, err = timer.ParseTime(at); err != nil {
		return nil, flags, err
	}
	// Refuse now what the night would refuse later, while somebody reads the
	// message.
	f, fl := new(sleepFlags), pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.register(fl)
	night := newGlobal(a.Stdin, a.Stdout, a.Stderr) // the night's own flags of every command
	night.globalFlags(fl)
	if err := fl.Parse(args); err != nil {
		return nil, flags, problem.Inputf("`evolve sleep run --help` lists them", "%v", err)
	}
	if fl.NArg() > 0 {
		return nil, flags, problem.Inputf("", "a night takes no %q", fl.Arg(0))
	}
	p, err := a.machine.fixed()
	if err := errors.Join(err, f.check(), guard.Command(a.machine.typist, "", fl), guard.Caps(p, fl)); err != nil {
		return nil, flags, err
	}
	if f.envFile != "" { // who knows in which folder a night is started
		if !filepath.IsAbs(f.envFile) {
			return nil, flags, problem.Inputf("give it to install, or its path from / on", "--env-file %s is another file in another folder", f.envFile)
		}
		if _, err := envfile.Read(f.envFile); err != nil {
			return nil, flags, err
		}
	}
	if t.Kind, err = timer.ParseKind(with); err != nil {
		return nil, flags, err
	}
	if t.Program, err = ownProgram(); err != nil {
		return nil, flags, err
	}
	if t.Args, err = nightArgs(a, args, f, night); err != nil {
		return nil, flags, err
	}
	var servers []string
	for _, k := range agent.Kinds() {
		servers = append(servers, k.BaseEnv)
	}
	if t.Env, err = timer.Environment(a.Getenv, servers); err != nil {
		return nil, flags, err
	}
	return t, f.runFlags, t.Check()
}

// nightArgs are the arguments that start a night on the same data as this
// command: night's own flags, and the global flags that name folders, as
// absolute paths. Flags in night come first.
func nightArgs(a *global, args []string, f *sleepFlags, night *global) ([]string, error) {
	all := append([]string{"sleep", "run", "--quiet"}, args...)
	for _, flag := range []struct{ name, nights, ours string }{
		{"--claude-home", night.claudeHome, a.claudeHome}, {"--skills-dir", night.skillDir, a.skillDir},
	} {
		dir := flag.nights
		if dir == "" {
			dir = flag.ours
		}
		if dir == "" || filepath.IsAbs(flag.nights) {
			continue
		}
		dir, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("find %s: %w", flag.name, err)
		}
		all = append(all, flag.name, dir) // of two the last counts
	}
	if len(f.Command) > 0 && strings.ContainsRune(f.Command[0], filepath.Separator) && !filepath.IsAbs(f.Command[0]) {
		return nil, problem.Inputf("give its path from / on", "--command %s is another program in another folder", f.Command[0])
	}
	return all, nil
}
