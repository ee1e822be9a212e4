package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// outputCap is how much of a program's output is kept as evidence; the end is
// what tells.
const outputCap = 8 << 10

// A ProgramRunner runs the programs of command and exec checks, in a sandbox
// wherever there is one: a case's program was written by somebody else, and runs
// in a folder that an agent has filled. It must be safe for concurrent use.
type ProgramRunner interface {
	// Identity says how programs are run: in a sandbox one may say something
	// else than outside.
	Identity() string
	// RunProgram runs argv in dir, or anywhere but in the owner's folders where
	// dir is "". An exit code other than 0 is no error, and neither is what a
	// program says before it is ended by a signal: the code is then -1 or above
	// 128. The error is ctx's, context.DeadlineExceeded where the program did
	// not end within limit, or tells why it could not be run. The output may be
	// cut to its end.
	RunProgram(ctx context.Context, dir string, argv []string, stdin []byte, limit time.Duration) (stdout, stderr []byte, exit int, err error)
}

// runCommand scores 1 where the command exits with 0. A command that does not
// end in time has found something that hangs: 0 as well.
func (g *Checks) runCommand(ctx context.Context, k *Check, workspace string) (CheckResult, error) {
	if workspace == "" {
		return CheckResult{Feedback: k.blame(), Evidence: "there is no workspace to run it in"}, nil
	}
	limit := g.execLimit()
	out, diag, exit, err := g.Programs.RunProgram(ctx, workspace, k.Command, nil, limit)
	why := fmt.Sprintf("exit status %d", exit)
	switch {
	case ctx.Err() != nil:
		return CheckResult{}, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		why = k.overtime(limit)
	case err != nil:
		return CheckResult{Missing: true, Evidence: err.Error()}, nil
	case exit == 0:
		return CheckResult{Score: 1}, nil
	}
	return CheckResult{Feedback: k.blame(), Evidence: why + "\n" + ending(append(out, diag...))}, nil
}

func (k *Check) overtime(limit time.Duration) string {
	return fmt.Sprintf("%s: did not end in time (%v)", k.Command[0], limit)
}

// ending is the end of a program's output.
func ending(out []byte) string {
	return string(bytes.ToValidUTF8(out[max(0, len(out)-outputCap):], nil))
}

// runExec gives the program the case and the attempt on stdin, and reads its
// opinion. A program that fails, hangs or prints anything else has said
// nothing: the check is missing.
func (g *Checks) runExec(ctx context.Context, c *Case, k *Check, a *Attempt, workspace string) (CheckResult, error) {
	in, err := json.Marshal(struct {
		Case    *Case    `json:"case"`
		Rollout *Rollout `json:"rollout"`
	}{c, &Rollout{CaseID: c.ID, Status: Done, Answer: a.Answer, Trace: a.Trace, Usage: a.Usage, CostUSD: a.CostUSD}})
	if err != nil {
		return CheckResult{}, fmt.Errorf("write case for %s check: %w", k.Type, err)
	}
	limit := g.execLimit()
	out, stderr, exit, err := g.Programs.RunProgram(ctx, workspace, k.Command, in, limit)
	missing := func(why string) (CheckResult, error) {
		return CheckResult{Missing: true, Evidence: why + "\n" + ending(stderr)}, nil
	}
	switch {
	case ctx.Err() != nil:
		return CheckResult{}, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return missing(k.overtime(limit))
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
	r := CheckResult{Score: *reply.Score, Evidence: reply.Feedback}
	if r.Score < 1 {
		r.Feedback = k.Feedback
		if r.Feedback == "" {
			r.Feedback = reply.Feedback
		}
		if r.Feedback == "" {
			r.Feedback = k.blame()
		}
	}
	return r, nil
}
