package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/skill-evolve/evolve/cmd/evolve/internal/advice"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/backend"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/completion"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/help"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/newhook"
	"github.com/skill-evolve/evolve/cmd/evolve/internal/usage"
	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/plain"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/spf13/cobra"
)

// run parses args, runs one command and returns the exit code. main and the
// tests call it. m is what a command finds around itself.
func run(ctx context.Context, m machine, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	if code, done := fastHook(m, args, stdin, stdout, stderr); done {
		return code
	}
	a := newGlobal(stdin, stdout, stderr)
	a.machine = m
	ctx, stop := a.UntilSignal(ctx, a.abort)
	defer stop()
	defer func() {
		if v := recover(); v != nil {
			code = a.panicked(v, debug.Stack())
		}
	}()
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	err := root.ExecuteContext(ctx)
	if e := a.close(); err == nil {
		err = e
	}
	return a.fail(err)
}

// newRoot builds the command tree. The root itself is `evolve --skill NAME`.
func newRoot(a *global) *cobra.Command {
	root := newRunCommand(a)
	root.Use = "evolve"
	root.Short = "Make agent skills better while you sleep"
	root.Long = `evolve turns the sessions you already had with your coding agents into eval
cases, searches for a better text of a skill, and keeps it only if it is better on
requests that the search never saw.`
	root.Example = `  evolve demo                        every step on bundled sessions
  evolve run dataviz --dry-run       what a run would do and cost
  evolve run dataviz                 harvest, search, try, stage
  evolve promote dataviz             install the better text
  evolve rollback dataviz            and back again`
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true // ours has examples, and our exit codes
	root.SetFlagErrorFunc(usage.FlagError)
	root.Args = usage.Root(a.layout)
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		a.access = accessOf(c)
		if err := usage.Finite(c, args); err != nil {
			return err
		}
		return a.machine.allows(c, a.access)
	}
	a.globalFlags(root.PersistentFlags())
	start, version := root.RunE, root.Flags().Bool("version", false, "print which evolve this is")
	root.RunE = func(c *cobra.Command, args []string) error {
		asked := false // for a run
		c.Flags().Visit(func(f *flagT) { asked = asked || root.PersistentFlags().Lookup(f.Name) == nil })
		switch {
		case *version:
			return printVersion(a)
		case !asked:
			return bare(c.Context(), a)
		}
		return start(c, args)
	}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			sub := c(a)
			sub.GroupID = g.title
			root.AddCommand(sub)
		}
	}
	root.AddCommand(newHookCommand(a))
	help.Add(root, groups[len(groups)-1].title, backend.ConfigHelp(), usage.UnknownCommand)
	usage.Subjects(root, a.layout)
	names := completion.Source{Home: a.home, Layout: a.layout, Words: map[string][]string{"compare --format": formats, "hooks new --event": newhook.Values()["event"], "hooks new --lang": newhook.Values()["lang"]}}
	names.Add(root)
	return root
}

// groups are the commands in the order of `evolve help`; each is in a file of its own.
var groups = []struct {
	title    string
	commands []func(*global) *cobra.Command
}{
	{"Every day", []func(*global) *cobra.Command{newRunCommand, newCheckCommand, newStatusCommand, newHarvestCommand, newSuggestCommand, newProjectsCommand}},
	{"Look", []func(*global) *cobra.Command{newRunsCommand, newLogCommand, newShowCommand, newDiffCommand, newCompareCommand, newReportCommand, newServeCommand, newCasesCommand, newCorrectionsCommand, newSessionsCommand, newKernelCommand, newResolveCommand}},
	{"Decide", []func(*global) *cobra.Command{newPromoteCommand, newTryCommand, newRollbackCommand, newApproveCommand, newRejectCommand, newPinCommand, newReviewCommand}},
	{"Nights", []func(*global) *cobra.Command{newSleepCommand, newHooksCommand}},
	{"Set up", []func(*global) *cobra.Command{newInitCommand, newDemoCommand, newDoctorCommand, newPrivacyCommand, newFleetCommand, newWorkerCommand, newCompletionCommand, newVersionCommand}},
}

// Exit codes, as documented in the README.
const (
	exitDone        int = 0
	exitFailed      int = 1
	exitUsage       int = 2
	exitStopped     int = 3 // by a cap or a usage limit, before a verdict
	exitRefused     int = 4 // for safety: kernel, firewall, drift
	exitInterrupted int = 130
)

// fail prints err as one line and a hint, and returns the exit code.
func (a *global) fail(err error) int {
	if err == nil {
		return exitDone
	}
	kind, hint := advice.Of(err)
	code := exitCode(kind)
	var quiet *quietExit
	if errors.As(err, &quiet) {
		return quiet.code
	}
	var bug *eval.PanicError
	if errors.As(err, &bug) {
		a.tellBug(bug.Value, bug.Stack)
		return exitFailed
	}
	var f *problem.Error
	if code == exitInterrupted && !errors.As(err, &f) {
		a.Tell("evolve: interrupted; what was saved until then is kept, and the same command continues")
		return code
	}
	a.Tell("evolve: %s", oneLine(a.clean(plain.Error(err)))) // a key of several lines is known by them
	if hint != "" {
		a.Tell("hint: %s", hint)
	}
	return code
}

// exitCode is the exit code of a kind of error.
func exitCode(kind problem.Kind) int {
	switch kind {
	case problem.Input, problem.NotFound:
		return exitUsage
	case problem.Refused:
		return exitRefused
	case problem.Stopped:
		return exitStopped
	case problem.Interrupted:
		return exitInterrupted
	}
	return exitFailed
}

// abort ends the process at once. The store is consistent at any instant;
// child processes are ended and the view is removed from the terminal.
func (a *global) abort() {
	process.KillAll()
	a.Clear()
	os.Exit(exitInterrupted)
}

// quietExit ends the program with a code and prints nothing more.
type quietExit struct{ code int }

func (q *quietExit) Error() string { return fmt.Sprintf("exit %d", q.code) }
