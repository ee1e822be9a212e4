package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"github.com/google/renameio/v2"
	"github.com/skill-evolve/evolve/internal/lazyregexp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
				return usage("flags of the night come after --: evolve sleep install --at 03:17 -- --max-cost-usd 2", "unexpected %q", args[0])
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
		return usage("`evolve sleep uninstall` takes it away first", "a %s timer is installed already", was.kind)
	}
	var tab, next string
	if t.kind == timerCron {
		if tab, err = crontab(ctx); err != nil && !print {
			return err
		}
		next = withoutMark(tab) + cronMark + "\n" + t.cronLine() + "\n"
		fmt.Fprintf(a.stdout, "a line of the crontab:\n%s\n%s\n", cronMark, t.cronLine())
	}
	for _, f := range files {
		fmt.Fprintf(a.stdout, "%s:\n%s\n", f.path, f.content)
	}
	if print {
		return nil
	}
	if same, err := unchanged(files); err != nil {
		return err
	} else if same && tab == next && t.enabled(ctx) {
		fmt.Fprintf(a.stdout, "nothing to change\n")
		return nil
	}
	if !yes && terminal(a.stdin) {
		if ok, err := a.confirm("Install it?"); err != nil {
			return err
		} else if !ok {
			return &failure{exitStopped, errors.New("nothing was installed"), "say --yes"}
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
		if err = call(ctx, "systemctl", "--user", "daemon-reload"); err == nil {
			err = call(ctx, "systemctl", "--user", "enable", "--now", unitName+".timer")
		}
	case timerLaunchd:
		domain := fmt.Sprintf("gui/%d", os.Getuid())
		_ = call(ctx, "launchctl", "bootout", domain+"/"+agentName) // not loaded yet, mostly
		err = call(ctx, "launchctl", "bootstrap", domain, files[0].path)
	}
	if err != nil {
		if e := putBack(); e != nil {
			return hinted(fmt.Errorf("install timer: %w; %w", err, e), "`evolve sleep uninstall` takes what was written away")
		}
		return hinted(fmt.Errorf("install timer: %w; nothing is left of it", err), "--with cron is another way")
	}
	fmt.Fprintf(a.stdout, "installed: a night every day at %02d:%02d\nnext: `evolve sleep status`; `evolve sleep uninstall` takes it away\n", t.hour, t.minute)
	return nil
}

func (a *app) sleepUninstall(ctx context.Context) error {
	gone := 0
	for _, kind := range []string{timerSystemd, timerLaunchd} {
		files, err := a.timerFiles(&timer{kind: kind})
		if err != nil {
			return err
		}
		there := slices.ContainsFunc(files, func(f timerFile) bool { _, err := os.Lstat(f.path); return err == nil })
		if !there {
			continue
		}
		if kind == timerSystemd {
			err = call(ctx, "systemctl", "--user", "disable", "--now", unitName+".timer")
		} else {
			err = call(ctx, "launchctl", "bootout", fmt.Sprintf("gui/%d/%s", os.Getuid(), agentName))
		}
		if err != nil {
			a.say("it could not be stopped, and is removed all the same: %v", err)
		}
		for _, f := range files {
			if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("uninstall timer: %w", err)
			}
			fmt.Fprintf(a.stdout, "removed %s\n", f.path)
			gone++
		}
		if kind == timerSystemd {
			if err := call(ctx, "systemctl", "--user", "daemon-reload"); err != nil {
				a.say("systemd was not told: %v", err)
			}
		}
	}
	if tab, err := crontab(ctx); err == nil && strings.Contains(tab, cronMark) {
		if err := setCrontab(ctx, withoutMark(tab)); err != nil {
			return fmt.Errorf("uninstall timer: %w", err)
		}
		fmt.Fprintf(a.stdout, "removed a line of the crontab\n")
		gone++
	}
	if gone == 0 {
		fmt.Fprintf(a.stdout, "no timer is installed\n")
	}
	return nil
}

var clock = lazyregexp.New(`^([01]?[0-9]|2[0-3]):([0-5][0-9])$`)

func (a *app) newTimer(at, with string, args []string) (*timer, error) {
	m := clock.FindStringSubmatch(at)
	if m == nil {
		return nil, usage("for example --at 03:17", "--at %q is no time of day", at)
	}
	t := &timer{kind: with, args: append([]string{"sleep", "run", "--quiet"}, args...)}
	t.hour, _ = strconv.Atoi(m[1])
	t.minute, _ = strconv.Atoi(m[2])
	// What the night would refuse is refused now, while somebody looks.
	f, fl := &sleepFlags{}, pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.register(fl)
	a.ignoredGlobals(fl)
	if err := fl.Parse(args); err != nil {
		return nil, usage("`evolve sleep run --help` lists them", "%v", err)
	}
	if fl.NArg() > 0 {
		return nil, usage("", "a night takes no %q", fl.Arg(0))
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	for _, s := range args {
		if strings.ContainsAny(s, "\n\r\x00") {
			return nil, usage("", "a flag of the night holds a line break")
		}
	}
	switch t.kind {
	case "":
		t.kind = defaultTimer()
	case timerSystemd, timerLaunchd, timerCron:
	default:
		return nil, usage("--with systemd, launchd or cron", "unknown --with %q", with)
	}
	var err error
	if t.program, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("find evolve: %w", err)
	}
	// Folders and the search path, so that the night finds what this shell finds.
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "EVOLVE_HOME", "PATH", "PI_CODING_AGENT_DIR", "XDG_DATA_HOME"} {
		if v := a.getenv(name); v != "" && !strings.ContainsAny(v, "\n\r") {
			t.env = append(t.env, name+"="+v)
		}
	}
	return t, nil
}

// ignoredGlobals lets the flags of every command be named for the night.
func (a *app) ignoredGlobals(fl *pflag.FlagSet) {
	b := newApp(a.stdin, a.stdout, a.stderr)
	b.globalFlags(fl)
}

func defaultTimer() string {
	if runtime.GOOS == "darwin" {
		return timerLaunchd
	}
	if _, err := exec.LookPath("systemctl"); err == nil {
		return timerSystemd
	}
	return timerCron
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
		conf := a.getenv("XDG_CONFIG_HOME")
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

// Nice 10, and the idle class of the disk: a night is nobody's hurry.
var serviceUnit = parsedTimer(`# Written by ` + "`evolve sleep install`" + `.
[Unit]
Description=evolve: better skills in the morning

[Service]
Type=oneshot
ExecStart={{.Exec}}
Nice=10
IOSchedulingClass=idle
{{range .Env}}Environment={{systemd .}}
{{end}}`)

var timerUnit = parsedTimer(`# Written by ` + "`evolve sleep install`" + `.
[Unit]
Description=evolve: a night at {{.At}}

[Timer]
OnCalendar=*-*-* {{.At}}:00
Persistent=true

[Install]
WantedBy=timers.target
`)

var launchAgent = parsedTimer(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by evolve sleep install. -->
<plist version="1.0">
<dict>
	<key>Label</key><string>` + agentName + `</string>
	<key>ProgramArguments</key>
	<array>
{{range .Words}}		<string>{{xml .}}</string>
{{end}}	</array>
	<key>EnvironmentVariables</key>
	<dict>
{{range .Pairs}}		<key>{{xml (index . 0)}}</key><string>{{xml (index . 1)}}</string>
{{end}}	</dict>
	<key>StartCalendarInterval</key>
	<dict><key>Hour</key><integer>{{.Hour}}</integer><key>Minute</key><integer>{{.Minute}}</integer></dict>
	<key>Nice</key><integer>10</integer>
	<key>LowPriorityIO</key><true/>
	<key>ProcessType</key><string>Background</string>
</dict>
</plist>
`)

func parsedTimer(s string) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		return template.Must(template.New("").Funcs(template.FuncMap{"systemd": systemdWord, "xml": xmlText}).Parse(s))
	})
}

func (t *timer) fill(of func() *template.Template) string {
	var words, quoted []string
	var pairs [][]string
	words = append([]string{t.program}, t.args...)
	for _, w := range words {
		quoted = append(quoted, systemdWord(strings.ReplaceAll(w, "$", "$$")))
	}
	for _, e := range t.env {
		name, value, _ := strings.Cut(e, "=")
		pairs = append(pairs, []string{name, value})
	}
	var b bytes.Buffer
	err := of().Execute(&b, map[string]any{"Exec": strings.Join(quoted, " "), "Env": t.env, "Words": words, "Pairs": pairs,
		"At": fmt.Sprintf("%02d:%02d", t.hour, t.minute), "Hour": t.hour, "Minute": t.minute})
	if err != nil {
		panic(err) // the templates are constants
	}
	return b.String()
}

// systemdWord quotes a word of a unit file: systemd.syntax(7), and % for
// specifiers.
func systemdWord(s string) string {
	s = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`).Replace(s)
	return `"` + s + `"`
}

func xmlText(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}

// cronLine is one line: cron gives its command to the shell, where % ends it.
func (t *timer) cronLine() string {
	var words []string
	for _, e := range t.env {
		name, value, _ := strings.Cut(e, "=")
		words = append(words, name+"="+shellWord(value))
	}
	words = append(words, "nice", "-n", "10")
	for _, w := range append([]string{t.program}, t.args...) {
		words = append(words, shellWord(w))
	}
	return fmt.Sprintf("%d %d * * * %s", t.minute, t.hour, strings.ReplaceAll(strings.Join(words, " "), "%", `\%`))
}

var plainWord = lazyregexp.New(`^[A-Za-z0-9_./:=,@+-]+$`)

func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// withoutMark is a crontab without our two lines.
func withoutMark(tab string) string {
	var out strings.Builder
	skip := 0
	for _, line := range strings.SplitAfter(tab, "\n") {
		if strings.TrimRight(line, "\n") == cronMark {
			skip = 2
		}
		if skip > 0 {
			skip--
			continue
		}
		out.WriteString(line)
	}
	if s := out.String(); s != "" && !strings.HasSuffix(s, "\n") {
		return s + "\n" // the line that follows is a line of its own
	}
	return out.String()
}

// crontab reads the user's; one who has none has an empty one.
func crontab(ctx context.Context) (string, error) {
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, "crontab", "-l")
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		if strings.Contains(errs.String(), "no crontab") {
			return "", nil
		}
		return "", fmt.Errorf("read the crontab: %w: %s", err, oneLine(errs.String()))
	}
	return out.String(), nil
}

func setCrontab(ctx context.Context, tab string) error {
	c := exec.CommandContext(ctx, "crontab", "-")
	c.Stdin = strings.NewReader(tab)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("write the crontab: %w: %s", err, oneLine(string(out)))
	}
	return nil
}

func call(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, oneLine(string(out)))
	}
	return nil
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

var (
	onCalendar = lazyregexp.New(`(?m)^OnCalendar=\*-\*-\* (\d\d):(\d\d):00$`)
	atHour     = lazyregexp.New(`<key>Hour</key><integer>(\d+)</integer><key>Minute</key><integer>(\d+)</integer>`)
	cronTimes  = lazyregexp.New(`(?m)^` + regexp.QuoteMeta(cronMark) + `\n(\d+) (\d+) `)
)

// installedTimer reads back what install wrote; nil where there is nothing of
// it.
func (a *app) installedTimer(ctx context.Context) (*timer, error) {
	for kind, pattern := range map[string]*lazyregexp.Regexp{timerSystemd: onCalendar, timerLaunchd: atHour} {
		files, err := a.timerFiles(&timer{kind: kind})
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(files[len(files)-1].path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("read timer: %w", err)
		}
		t := &timer{kind: kind}
		if m := pattern.FindStringSubmatch(string(text)); m != nil {
			t.hour, _ = strconv.Atoi(m[1])
			t.minute, _ = strconv.Atoi(m[2])
		}
		return t, nil
	}
	tab, err := crontab(ctx)
	if err != nil {
		return nil, nil // no cron here
	}
	if m := cronTimes.FindStringSubmatch(tab); m != nil {
		t := &timer{kind: timerCron}
		t.minute, _ = strconv.Atoi(m[1])
		t.hour, _ = strconv.Atoi(m[2])
		return t, nil
	}
	return nil, nil
}
