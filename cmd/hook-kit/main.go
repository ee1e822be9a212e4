// Command hook-kit does for a hook, in any language, what is the same in each: it reads the
// event, parses a shell command, gives the answer, and keeps state.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/harvest/hook/kit"
)

const usage = `usage: hook-kit COMMAND, with the event on stdin, and HOOK_NAME set to the hook's name

  input [FIELD...]           the event as JSON with sorted keys, or its fields, each on a line
  commands [LINE]            the simple commands of LINE, or of the event's, as JSON, each on a line
  guard FILE                 the answer of a rule file: exit with 2, and what it says, if a rule is
                             about the event
  emit block|allow|ask|context TEXT...
                             the answer to the event; exit with the code that it exits with
  bus add FIELD=VALUE...     note fields of the event, once, in bus.jsonl
  bus read                   what the hook has noted
  state get KEY              a value, as it was before the event
  state set KEY VALUE        replace it, once for an event
  cooldown NAME SECONDS      exit with 0 if so much time has passed since it last did, else with 1
  log TEXT...                a line in logs/HOOK_NAME.log, once for an event

Exit codes: 0, or 1 if something failed, for which an agent goes on. Only guard, and emit
block for an event whose answer cannot be JSON, exit with 2.
`

func main() {
	k := &program{os.Stdin, os.Stdout, os.Stderr, os.Getenv, time.Now}
	os.Exit(k.run(os.Args[1:]))
}

type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	now            func() time.Time
}

// errUsage is what cannot be meant.
var errUsage = errors.New("`hook-kit help` lists the commands")

// run returns the exit code. A failure is never the code that blocks, not even a panic, for
// which Go would exit with that very code.
func (k *program) run(args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(k.stderr, "hook-kit: panic: %v\n", p)
			code = kit.Failed
		}
	}()
	code, err := k.do(args)
	if err != nil {
		fmt.Fprintf(k.stderr, "hook-kit: %v\n", err)
		return kit.Failed
	}
	return code
}

func (k *program) do(args []string) (code int, err error) {
	if len(args) == 0 {
		return 0, errUsage
	}
	name, args := args[0], args[1:]
	switch {
	case name == "help" || name == "-h" || name == "--help":
		_, err = io.WriteString(k.stdout, usage)
		return kit.Go, err
	case name == "input":
		return kit.Go, k.input(args)
	case name == "commands" && len(args) < 2:
		return kit.Go, k.commands(args)
	case name == "guard" && len(args) == 1:
		return k.guard(args[0])
	case name == "emit" && len(args) > 0:
		return k.emit(args[0], strings.Join(args[1:], " "))
	case name == "bus" && len(args) == 1 && args[0] == "read":
		h, err := k.open(nil)
		if err != nil {
			return 0, err
		}
		return kit.Go, k.notes(h)
	case name == "bus" && len(args) > 1 && args[0] == "add", name == "state" && len(args) == 2 && args[0] == "get", name == "state" && len(args) == 3 && args[0] == "set",
		name == "cooldown" && len(args) == 2, name == "log" && len(args) > 0:
		h, err := k.open(k.event())
		if err != nil {
			return 0, err
		}
		return k.keep(h, name, args)
	}
	return 0, errUsage
}

// keep is what reads or changes what the hook keeps.
func (k *program) keep(h *kit.Hook, name string, args []string) (code int, err error) {
	switch name {
	case "bus":
		fields := map[string]string{}
		for _, arg := range args[1:] {
			field, value, ok := strings.Cut(arg, "=")
			if !ok {
				return 0, fmt.Errorf("bus add: %q is not FIELD=VALUE", arg)
			}
			fields[field] = value
		}
		_, err = h.Note(fields)
	case "state":
		if args[0] == "set" {
			return kit.Go, h.Set(args[1], args[2])
		}
		value, err := h.Get(args[1])
		if err == nil && value != "" {
			_, err = fmt.Fprintln(k.stdout, value)
		}
		return kit.Go, err
	case "cooldown":
		seconds, err := strconv.ParseFloat(args[1], 64)
		if err != nil || !(seconds >= 0 && seconds < 1e9) {
			return 0, fmt.Errorf("cooldown: %q is no number of seconds", args[1])
		}
		over, err := h.Cooldown(args[0], time.Duration(seconds*float64(time.Second)))
		if err == nil && !over {
			return kit.Failed, nil
		}
		return kit.Go, err
	case "log":
		err = h.Log(strings.Join(args, " "))
	}
	return kit.Go, err
}

func (k *program) open(e *kit.Event) (*kit.Hook, error) { return kit.Open(k.getenv, e, k.now) }

// event reads stdin. Without a valid event there is none, and one line in the log if
// something was there: a hook never fails because of its input.
func (k *program) event() *kit.Event {
	if f, ok := k.stdin.(*os.File); ok {
		if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return nil // a terminal, or /dev/null
		}
	}
	raw, err := kit.ReadValue(k.stdin)
	var e *kit.Event
	if err == nil {
		e, err = kit.Parse(raw)
	}
	if err == nil {
		return e
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	k.note(nil, "", err.Error())
	return nil
}

// note writes a line to the hook's log, once for an event. name is that of a hook whose
// HOOK_NAME is not set.
func (k *program) note(e *kit.Event, name, text string) {
	if h, err := k.named(e, name); err == nil {
		_ = h.Log(text) // if that fails too, there is no way to report it
	}
}

// named is the hook, by name if its HOOK_NAME is not set.
func (k *program) named(e *kit.Event, name string) (*kit.Hook, error) {
	if kit.ValidName(name) != nil {
		name = "hook-kit"
	}
	return kit.Open(func(variable string) string {
		return cmp.Or(k.getenv(variable), map[string]string{"HOOK_NAME": name}[variable])
	}, e, k.now)
}

func (k *program) input(fields []string) error {
	e := k.event()
	if e == nil {
		return nil
	}
	var b strings.Builder
	if len(fields) == 0 {
		b.Write(e.Canonical())
		b.WriteByte('\n')
	}
	for _, f := range fields {
		text := e.Field(f)
		if len(fields) > 1 { // else what follows would be taken for another field
			text = strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(text)
		}
		b.WriteString(text)
		b.WriteByte('\n')
	}
	_, err := io.WriteString(k.stdout, b.String())
	return err
}

func (k *program) emit(what, text string) (code int, err error) {
	event := ""
	if e := k.event(); e != nil {
		event = e.Name
	}
	stdout, stderr, code, err := kit.Answer(event, what, text)
	if err != nil {
		return code, fmt.Errorf("emit: %w", err)
	}
	if stdout != "" {
		_, err = fmt.Fprintln(k.stdout, stdout)
	}
	if stderr != "" {
		fmt.Fprintln(k.stderr, stderr) // what is stopped is stopped even if nobody reads why
	}
	return code, err
}

func (k *program) notes(h *kit.Hook) error {
	lines, err := h.Notes()
	for _, line := range lines {
		if _, err := fmt.Fprintf(k.stdout, "%s\n", line); err != nil {
			return err
		}
	}
	return err
}
