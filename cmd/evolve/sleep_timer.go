package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/spf13/cobra"
)

// The kinds of timer.
const (
	timerSystemd = "systemd"
	timerLaunchd = "launchd"
	timerCron    = "cron"
)

// The names of what an installation writes. uninstall removes these and nothing
// else.
const (
	unitName  = "evolve-sleep"
	agentName = "org.skill-evolve.sleep"
	cronMark  = "# evolve sleep: written by `evolve sleep install`"
)

// A timer is what starts a night every day.
type timer struct {
	kind         string
	hour, minute int
	program      string
	args         []string
	env          []string // NAME=value, sorted; never a key
	night        runFlags // what args say
}

func newSleepInstallCommand(a *app) *cobra.Command {
	var at, with string
	var print, yes bool
	c := &cobra.Command{
		Use:     "install --at HH:MM [-- FLAGS OF sleep run]",
		Short:   "Start a night every day: a systemd user timer, a launchd agent or a crontab line",
		Example: "  evolve sleep install --at 03:17 --print\n  evolve sleep install --at 03:17 -- --policy auto --max-cost-usd 2 --only-on-ac",
		RunE: func(c *cobra.Command, args []string) error {
			if c.ArgsLenAtDash() != 0 && len(args) > 0 {
				return problem.Inputf("flags of the night come after --: evolve sleep install --at 03:17 -- --max-cost-usd 2", "unexpected %q", args[0])
			}
			return a.sleepInstall(c.Context(), at, with, args, print, yes)
		},
	}
	c.Flags().StringVar(&at, "at", "", "time of day, for example 03:17")
	c.Flags().StringVar(&with, "with", "", "systemd, launchd or cron (default: what this machine has)")
	c.Flags().BoolVar(&print, "print", false, "show what would be written, and write nothing")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func newSleepUninstallCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "uninstall",
		Short: "Take away exactly what install wrote",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return a.sleepUninstall(c.Context()) },
	}
}

func (a *app) sleepInstall(ctx context.Context, at, with string, args []string, print, yes bool) error {
	t, err := a.newTimer(at, with, args)
	if err != nil {
		return err
	}
	files, err := a.timerFiles(t)
	if err != nil {
		return err
	}
	was, err := a.installedTimer(ctx)
	if err != nil {
		return err
	}
	if was != nil && was.kind != t.kind && !print {
		return problem.Inputf("`evolve sleep uninstall` takes it away first", "a %s timer is installed already", was.kind)
	}
	var tab, next string
	if t.kind == timerCron {
		if tab, err = crontab(ctx); err != nil && !print {
			return err
		}
		next = withoutMark(tab) + cronMark + "\n" + t.cronLine() + "\n"
		fmt.Fprintf(a.Stdout, "two lines of the crontab:\n%s\n%s\n", cronMark, t.cronLine())
	}
	for _, f := range files {
		fmt.Fprintf(a.Stdout, "%s:\n%s\n", f.path, f.content)
	}
	words, err := a.foreseeTimer(ctx, t.night)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.Stdout, words)
	if print {
		return nil
	}
	for _, f := range files {
		if text, err := os.ReadFile(f.path); err == nil && !timerText(text) {
			return problem.Refusef("move it away first", "%s is none of evolve's", f.path)
		}
	}
	if same, err := unchanged(files); err != nil {
		return err
	} else if same && tab == next {
		if on, err := t.enabled(ctx); err == nil && on {
			fmt.Fprintf(a.Stdout, "nothing to change\n")
			return nil
		}
	}
	if !yes && term.IsTerminal(a.Stdin) {
		if ok, err := a.Confirm("Install it?"); err != nil {
			return err
		} else if !ok {
			return &problem.Error{Kind: problem.Stopped, Err: errors.New("nothing was installed"), Hint: "say --yes"}
		}
	}
	putBack, err := keepFiles(files)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
			return fmt.Errorf("install timer: %w", err)
		}
		if err := renameio.WriteFile(f.path, []byte(f.content), 0o644); err != nil {
			return fmt.Errorf("install timer: %w", err)
		}
	}
	switch t.kind {
	case timerCron:
		err = setCrontab(ctx, next)
	case timerSystemd:
		if err = call(ctx, changeWait, "systemctl", "--user", "daemon-reload"); err == nil {
			err = call(ctx, changeWait, "systemctl", "--user", "enable", "--now", unitName+".timer")
		}
	case timerLaunchd:
		domain := fmt.Sprintf("gui/%d", os.Getuid())
		_ = call(ctx, changeWait, "launchctl", "bootout", domain+"/"+agentName) // not loaded yet, mostly
		err = call(ctx, changeWait, "launchctl", "bootstrap", domain, files[0].path)
	}
	if err != nil {
		if e := putBack(); e != nil {
			return problem.Hinted(fmt.Errorf("install timer: %w; %w", err, e), "`evolve sleep uninstall` takes what was written away")
		}
		return problem.Hinted(fmt.Errorf("install timer: %w; nothing is left of it", err), "--with cron is another way")
	}
	if left := a.leftOut(); len(left) > 0 {
		a.Say("keys are written nowhere: the night has no %s of this shell; docs/sleep.md says how it gets one", strings.Join(left, ", "))
	}
	fmt.Fprintf(a.Stdout, "installed: a night every day at %s\nnext: `evolve sleep status`; `evolve sleep uninstall` takes it away\n", t.at())
	return nil
}

func (a *app) sleepUninstall(ctx context.Context) error {
	gone := 0
	for _, kind := range []string{timerSystemd, timerLaunchd} {
		files, err := a.timerFiles(&timer{kind: kind})
		if err != nil {
			return err
		}
		files = slices.DeleteFunc(files, func(f timerFile) bool {
			text, err := os.ReadFile(f.path)
			return err != nil || !timerText(text) // there is none, or it is another's
		})
		if len(files) == 0 {
			continue
		}
		if kind == timerSystemd {
			err = call(ctx, changeWait, "systemctl", "--user", "disable", "--now", unitName+".timer")
		} else {
			err = call(ctx, changeWait, "launchctl", "bootout", fmt.Sprintf("gui/%d/%s", os.Getuid(), agentName))
		}
		if err != nil {
			a.Say("it could not be stopped, and is removed all the same: %v", err)
		}
		for _, f := range files {
			if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("uninstall timer: %w", err)
			}
			fmt.Fprintf(a.Stdout, "removed %s\n", f.path)
			gone++
		}
		if err := dropWanted(files[0].path); err != nil {
			return fmt.Errorf("uninstall timer: %w", err)
		}
		if kind == timerSystemd {
			if err := call(ctx, changeWait, "systemctl", "--user", "daemon-reload"); err != nil {
				a.Say("systemd was not told: %v", err)
			}
		}
	}
	if tab, err := crontab(ctx); err == nil && strings.Contains(tab, cronMark) {
		if err := setCrontab(ctx, withoutMark(tab)); err != nil {
			return fmt.Errorf("uninstall timer: %w", err)
		}
		fmt.Fprintf(a.Stdout, "removed two lines of the crontab\n")
		gone++
	}
	if gone == 0 {
		fmt.Fprintf(a.Stdout, "no timer is installed\n")
	}
	return nil
}

type timerFile struct{ path, content string }

// timerFiles are what a kind of timer needs on disk; cron needs nothing.
func (a *app) timerFiles(t *timer) ([]timerFile, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("find the home folder: %w", err)
	}
	switch t.kind {
	case timerSystemd:
		conf := a.Getenv("XDG_CONFIG_HOME")
		if !filepath.IsAbs(conf) {
			conf = filepath.Join(home, ".config")
		}
		dir := filepath.Join(conf, "systemd", "user")
		return []timerFile{{filepath.Join(dir, unitName+".service"), t.fill(serviceUnit)}, {filepath.Join(dir, unitName+".timer"), t.fill(timerUnit)}}, nil
	case timerLaunchd:
		return []timerFile{{filepath.Join(home, "Library", "LaunchAgents", agentName+".plist"), t.fill(launchAgent)}}, nil
	}
	return nil, nil
}

// How long the system's programs may take to answer, and to do something.
const (
	askWait    = 5 * time.Second
	changeWait = 30 * time.Second
)

func call(ctx context.Context, wait time.Duration, name string, args ...string) error {
	_, err := answer(ctx, wait, "", name, args...)
	return err
}

// An exitError is the exit code of a program that refused; -1 if a signal ended it.
type exitError int

func (e exitError) Error() string {
	if e < 0 {
		return "ended by a signal"
	}
	return fmt.Sprintf("exit status %d", int(e))
}

// answer is what one of the system's programs prints. What it has started ends with
// it.
func answer(ctx context.Context, wait time.Duration, stdin, name string, args ...string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	r, err := process.Run(ctx, process.Command{Path: path, Args: args, Env: os.Environ(), Stdin: []byte(stdin), Grace: time.Second})
	switch {
	case ctx.Err() != nil:
		err = fmt.Errorf("no answer in %v", wait)
	case err == nil && r.Exit != 0:
		err = exitError(r.Exit)
	case err == nil:
		return string(r.Stdout), nil
	}
	said := ""
	if r != nil {
		said = string(r.Stdout) + r.Stderr
	}
	return "", fmt.Errorf("%s: %w: %s", strings.Join(append([]string{name}, args...), " "), err, oneLine(said))
}

func unchanged(files []timerFile) (bool, error) {
	for _, f := range files {
		have, err := os.ReadFile(f.path)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		} else if err != nil {
			return false, fmt.Errorf("read timer: %w", err)
		}
		if string(have) != f.content {
			return false, nil
		}
	}
	return true, nil
}
