package main

import (
	"fmt"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/term"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/harvest/hook/settings"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/store/datadir"
	"github.com/skill-evolve/evolve/store/lock"
	"github.com/spf13/pflag"
)

// opener opens backends for this command; noWait is for requests that a
// person answers.
func (a *global) opener(noWait bool) *backend.Opener {
	said := false
	return &backend.Opener{Getenv: a.Getenv, Config: a.config, Tell: func(line string) { a.Say("fleet: %s", line) }, Layout: a.layout(), Access: a.access, Keys: a.keys, NoWait: noWait, Typist: a.machine.typist,
		Assume: func(name string) {
			if !said {
				a.Warn([]string{fmt.Sprintf("no agent works here yet: the forecast assumes %s; `evolve doctor` prints what to type for each", name)})
			}
			said = true
		}}
}

// control decides what text may leave this machine. It asks its owner on a terminal.
func control(a *global) *outgoing.Control {
	home, _ := a.home() // the store of the same command reports the error
	g := &outgoing.Control{File: home.Projects(), Policy: a.machine.fixed, Recorder: backend.Recorder, Dry: a.access != datadir.Writes,
		Redactor: func() eval.Redactor { return a.redactor() }}
	if a.machine.typist == nil && term.IsTerminal(a.Stdin) && term.IsTerminal(a.Stderr) {
		g.Ask = func(request, question string) (bool, error) { a.Tell("%s", request); return a.Confirm(question) }
	}
	return g
}

// config reads the configuration, once.
func (a *global) config() (*backend.Config, error) {
	if a.conf != nil {
		return a.conf, nil
	}
	home, err := a.home()
	if err != nil {
		return nil, err
	}
	c, err := backend.ReadConfig(home.Config())
	if err != nil {
		return nil, err
	}
	a.conf = c
	a.keys.Personal(c.Personal...)
	process.SetLimits(c.SandboxLimits)
	return c, nil
}

// configured sets the flags that were not given and that the configuration has.
func configured(a *global, flags *pflag.FlagSet) error {
	c, err := a.config()
	if err != nil {
		return err
	}
	return c.Defaults(flags)
}

func confirmOver(a *global, flag float64) float64 { return a.conf.ConfirmOver(flag) }

// isDemo reports whether the data folder and the skills are the demo's own.
// If the configuration cannot be read, the answer is no, here and in
// demoFolder; the command that needs it reports the error.
func (a *global) isDemo() bool {
	if a.demo.sandboxed {
		return true
	}
	home, e := a.home()
	c, err := a.config()
	return e == nil && err == nil && c.IsDemo(home, a.layout())
}

func (a *global) demoFolder() string {
	home, e := a.home()
	c, err := a.config()
	if e != nil || err != nil {
		return ""
	}
	if a.demo.sandboxed {
		c = &backend.Config{Demo: true}
	}
	return c.DemoFolder(home)
}

// locks are those of the data folder.
func (a *global) locks() (lock.Locks, error) {
	h, err := a.home()
	return lock.Locks{Dir: h, Now: a.Now}, err
}

// outbox writes what hooks read at the next session.
func (a *global) outbox() (*settings.Outbox, error) {
	home, err := a.home()
	return &settings.Outbox{Dir: home, Access: a.access, Now: a.Now, Say: a.Say}, err
}
