package main

import (
	"os/exec"
	"runtime"
	"strconv"

	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill/lazyregexp"
	"github.com/spf13/pflag"
)

var clock = lazyregexp.New(`^([01]?[0-9]|2[0-3]):([0-5][0-9])$`)

func (a *app) newTimer(at, with string, args []string) (*timer, error) {
	m := clock.FindStringSubmatch(at)
	if m == nil {
		return nil, problem.Inputf("for example --at 03:17", "--at %q is no time of day", at)
	}
	t := &timer{kind: with, args: append([]string{"sleep", "run", "--quiet"}, args...)}
	t.hour, _ = strconv.Atoi(m[1])
	t.minute, _ = strconv.Atoi(m[2])
	// What the night would refuse is refused now, while somebody looks.
	f, fl := &sleepFlags{}, pflag.NewFlagSet("run", pflag.ContinueOnError)
	f.register(fl)
	night := newApp(a.Stdin, a.Stdout, a.Stderr) // what the night is told of the flags of every command
	night.globalFlags(fl)
	if err := fl.Parse(args); err != nil {
		return nil, problem.Inputf("`evolve sleep run --help` lists them", "%v", err)
	}
	if fl.NArg() > 0 {
		return nil, problem.Inputf("", "a night takes no %q", fl.Arg(0))
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	t.night = f.runFlags
	switch t.kind {
	case "":
		t.kind = defaultTimer()
	case timerSystemd, timerLaunchd, timerCron:
	default:
		return nil, problem.Inputf("--with systemd, launchd or cron", "unknown --with %q", with)
	}
	var err error
	if t.program, err = ownProgram(); err != nil {
		return nil, err
	}
	if err := a.keepSetup(t, f, night); err != nil {
		return nil, err
	}
	return t, t.writable()
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
