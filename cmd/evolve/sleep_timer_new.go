package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"github.com/skill-evolve/evolve/internal/lazyregexp"
	"github.com/spf13/pflag"
)

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
