package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/skill-evolve/evolve/eval"
	"github.com/spf13/cobra"
)

// run is the whole program: it parses args, carries out one command and returns
// the exit code. It is what main and the tests call.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	if code, done := fastHook(args, stdin, stdout, stderr); done {
		return code
	}
	a := newApp(stdin, stdout, stderr)
	ctx, stop := a.untilSignal(ctx)
	defer stop()
	defer func() {
		if v := recover(); v != nil {
			code = a.panicked(v, debug.Stack())
		}
	}()
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	if e := a.close(); err == nil {
		err = e
	}
	return a.fail(err)
}

// newRoot builds the command tree. The root itself is `evolve --skill NAME`.
func newRoot(a *app) *cobra.Command {
	root := newRunCommand(a)
	root.Use = "evolve"
	root.Short = "Make agent skills better while you sleep"
	root.Long = `evolve turns the sessions you already had with your coding agents into eval
cases, searches for a better text of a skill, and keeps it only where it proves
itself on cases that the search never saw.`
	root.Example = `  evolve demo                        the whole way on bundled sessions
  evolve --skill dataviz --dry-run   what a run would do and cost
  evolve --skill dataviz             harvest, search, prove, stage
  evolve promote dataviz             install what was proved
  evolve rollback dataviz            and back again`
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true // ours has examples, and our exit codes
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return flagError(c, err) })
	root.Args = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(c, args[0])
		}
		return nil
	}
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		a.access = accessOf(c)
		return finiteFlags(c, args)
	}
	a.globalFlags(root.PersistentFlags())
	runAlias := newRunCommand(a)
	root.AddCommand(runAlias)
	for _, c := range commands {
		root.AddCommand(c(a))
	}
	withHelp(root)
	a.withCompletion(root)
	return root
}

// commands are the subcommands in the order of `evolve help`; each stands in a
// file of its own.
var commands = []func(*app) *cobra.Command{
	newDemoCommand,
	newStatusCommand,
	newHarvestCommand,
	newCasesCommand,
	newPromoteCommand,
	newApproveCommand,
	newRejectCommand,
	newRollbackCommand,
	newPinCommand,
	newLogCommand,
	newShowCommand,
	newDiffCommand,
	newCompareCommand,
	newReviewCommand,
	newReportCommand,
	newServeCommand,
	newSessionsCommand,
	newKernelCommand,
	newResolveCommand,
	newDoctorCommand,
	newSleepCommand,
	newHooksCommand,
	newHookCommand,
}

// Exit codes, as documented in the README.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitStopped     = 3 // by a cap or a usage limit, before a verdict
	exitRefused     = 4 // for safety: kernel, firewall, drift
	exitInterrupted = 130
)

// A failure is an error with its exit code and the next thing to type.
type failure struct {
	code int
	err  error
	hint string
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// usage makes an error of bad input.
func usage(hint, format string, args ...any) error {
	return &failure{exitUsage, fmt.Errorf(format, args...), hint}
}

// refused makes an error of something that safety forbids.
func refused(hint, format string, args ...any) error {
	return &failure{exitRefused, fmt.Errorf(format, args...), hint}
}

// hinted adds a hint to an error, keeping the code that classify gives it.
func hinted(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &failure{0, err, hint}
}

// fail prints err as one line and a hint, and returns the exit code.
func (a *app) fail(err error) int {
	if err == nil {
		return exitDone
	}
	code, hint := explain(err)
	var quiet *quietExit
	if errors.As(err, &quiet) {
		return quiet.code
	}
	var bug *eval.PanicError
	if errors.As(err, &bug) {
		a.tellBug(bug.Value, bug.Stack)
		return exitFailed
	}
	var f *failure
	if code == exitInterrupted && !errors.As(err, &f) {
		a.tell("evolve: interrupted; what was saved until then is kept, the same command goes on")
		return code
	}
	a.tell("evolve: %s", oneLine(a.clean(err.Error()))) // a key of several lines is known by them
	if hint != "" {
		a.tell("hint: %s", hint)
	}
	return code
}

// explain gives the exit code of an error and what to do about it, "" for nothing.
func explain(err error) (code int, hint string) {
	code, hint = classify(err)
	var f *failure
	if errors.As(err, &f) {
		if f.code != 0 {
			code = f.code
		}
		if f.hint != "" {
			hint = f.hint
		}
	}
	return code, hint
}

// quietExit ends the program with a code after everything was said already.
type quietExit struct{ code int }

func (q *quietExit) Error() string { return fmt.Sprintf("exit %d", q.code) }
