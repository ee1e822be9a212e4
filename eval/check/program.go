package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// outputCap is how much of a program's output is kept as evidence: its end, where
// errors are.
const outputCap = 8 << 10

// A ProgramRunner runs the programs of command and exec checks, in a sandbox if there
// is one: others may have written a case's program, and it runs in a folder that an
// agent has filled. It must be safe for concurrent use.
type ProgramRunner interface {
	// Identity identifies how programs are run: in a sandbox one may print something
	// else than outside.
	Identity() string
	// RunProgram runs argv in dir or, if dir is "", anywhere but in the owner's
	// folders. An exit code other than 0 is no error, and neither is a signal that
	// ended the program: the code is then -1 or above 128. The error is ctx's,
	// context.DeadlineExceeded if the program did not end within limit, or the reason
	// why it could not be run. Long output may be cut to its end.
	RunProgram(ctx context.Context, dir string, argv []string, stdin []byte, limit time.Duration) (stdout, stderr []byte, exit int, err error)
}

// command scores 1 if the command exits with 0. A command that does not end in time
// scores 0, because it has found something that hangs.
type command struct{ spec Spec }

// tests is a command from the list that the owner confirmed for a repository. The caller that
// knows the list must see to it that Command is what the list has under the name Value.
var tests = command{Spec{Name: Tests, Fields: []string{"value", "command"}, Runs: true, Files: true, Text: "name of the command"}}

func (c command) Spec() Spec { return c.spec }

func (command) Validate(k *Check) error { return validProgram(k) }

func (c command) Explain(k *Check) string {
	if c.spec.Name == Tests {
		return fmt.Sprintf("`%s` fails on the work that was left.", strings.Join(k.Command, " "))
	}
	return failedProgram(k)
}

func (command) Grade(ctx context.Context, k *Check, s *Subject) (Result, error) {
	if s.Workspace == "" {
		return Result{Feedback: k.Blame(), Evidence: "there is no workspace to run it in"}, nil
	}
	out, diag, exit, err := s.Programs.RunProgram(ctx, s.Workspace, k.Command, nil, s.Limit)
	why := fmt.Sprintf("exit status %d", exit)
	switch {
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		why = overtime(k, s.Limit)
	case err != nil:
		return Result{Missing: true, Evidence: err.Error()}, nil
	case exit == 0:
		return Result{Score: 1}, nil
	}
	return Result{Feedback: k.Blame(), Evidence: why + "\n" + ending(append(out, diag...))}, nil
}

// execute passes the case and the attempt to the program on stdin, and reads its score.
// If the program fails, hangs or prints anything else, the check is missing.
type execute struct{}

func (execute) Spec() Spec {
	return Spec{Name: Exec, Fields: []string{"command"}, Runs: true}
}

func (execute) Validate(k *Check) error { return validProgram(k) }

func (execute) Explain(k *Check) string { return failedProgram(k) }

func (execute) Grade(ctx context.Context, k *Check, s *Subject) (Result, error) {
	in, err := s.Record()
	if err != nil {
		return Result{}, fmt.Errorf("write case for %s check: %w", k.Type, err)
	}
	out, stderr, exit, err := s.Programs.RunProgram(ctx, s.Workspace, k.Command, in, s.Limit)
	missing := func(why string) (Result, error) {
		return Result{Missing: true, Evidence: why + "\n" + ending(stderr)}, nil
	}
	switch {
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return missing(overtime(k, s.Limit))
	case err != nil:
		return missing(err.Error())
	case exit != 0:
		return missing(fmt.Sprintf("exit status %d", exit))
	}
	var reply struct {
		Score    *float64 `json:"score"`
		Feedback string   `json:"feedback"`
	}
	if err := json.Unmarshal(out, &reply); err != nil {
		return missing("the program did not print one JSON object: " + err.Error())
	}
	if reply.Score == nil || *reply.Score < 0 || *reply.Score > 1 {
		return missing("the program printed no score between 0 and 1")
	}
	r := Result{Score: *reply.Score, Evidence: reply.Feedback}
	if r.Score < 1 {
		r.Feedback = k.Feedback
		if r.Feedback == "" {
			r.Feedback = reply.Feedback
		}
		if r.Feedback == "" {
			r.Feedback = k.Blame()
		}
	}
	return r, nil
}

func validProgram(k *Check) error {
	if k.Command[0] == "" {
		return errors.New("the program's name is empty")
	}
	return nil
}

func failedProgram(k *Check) string {
	return fmt.Sprintf("The check %q failed.", strings.Join(k.Command, " "))
}

func overtime(k *Check, limit time.Duration) string {
	return fmt.Sprintf("%s: did not end in time (%v)", k.Command[0], limit)
}

// ending is the end of a program's output.
func ending(out []byte) string {
	return string(bytes.ToValidUTF8(out[max(0, len(out)-outputCap):], nil))
}
