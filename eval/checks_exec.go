package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// outputCap is how much of a program's output is kept; exec checks print a
// line, and the end of a test's output is what tells.
const outputCap = 8 << 10

// runCommand scores 1 where the command exits with 0. A command that does not
// end in time has found something that hangs: 0 as well.
func (g *Checks) runCommand(ctx context.Context, k *Check, workspace string) (CheckResult, error) {
	if workspace == "" {
		return CheckResult{Feedback: k.blame(), Evidence: "there is no workspace to run it in"}, nil
	}
	out, _, err := g.run(ctx, k, workspace, nil)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return CheckResult{}, ctx.Err()
	case err == nil:
		return CheckResult{Score: 1}, nil
	case errors.As(err, &exit), errors.Is(err, errCheckTime), errors.Is(err, exec.ErrWaitDelay):
		return CheckResult{Feedback: k.blame(), Evidence: fmt.Sprintf("%v\n%s", err, out)}, nil
	}
	return CheckResult{Missing: true, Evidence: err.Error()}, nil
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
	out, stderr, err := g.run(ctx, k, workspace, in)
	if ctx.Err() != nil {
		return CheckResult{}, ctx.Err()
	}
	missing := func(why string) (CheckResult, error) {
		return CheckResult{Missing: true, Evidence: why + "\n" + string(stderr)}, nil
	}
	if err != nil {
		return missing(err.Error())
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

var errCheckTime = errors.New("did not end in time")

// run runs the check's program in the workspace with a small environment: no
// key of ours is in it.
func (g *Checks) run(ctx context.Context, k *Check, workspace string, stdin []byte) (stdout, stderr []byte, err error) {
	limit := g.execLimit()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errCheckTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, k.Command[0], k.Command[1:]...)
	if cmd.Dir = workspace; workspace == "" {
		cmd.Dir = os.TempDir() // never where evolve was started
	}
	cmd.Stdin = bytes.NewReader(stdin)
	for _, name := range []string{"PATH", "HOME", "LANG", "TMPDIR", "SystemRoot"} {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	var out, diag tail
	cmd.Stdout, cmd.Stderr = &out, &diag
	if k.Type == Command {
		cmd.Stderr = &out
	}
	cmd.WaitDelay = 2 * time.Second // for grandchildren that keep the pipes open
	if err = cmd.Run(); err != nil && context.Cause(ctx) == errCheckTime {
		err = fmt.Errorf("%s: %w (%v)", k.Command[0], errCheckTime, limit)
	}
	return out.b, diag.b, err
}

// A tail keeps the last outputCap bytes that are written to it.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if over := len(t.b) - outputCap; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(p), nil
}
