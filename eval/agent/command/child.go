package command

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/eval/problem"
)

// ask runs the program once, on the stage s; nil is an empty place. The error is an
// *eval.InfraError, or ctx's. The exit code does not matter: only a complete reply
// counts as one.
func (a *Agent) ask(ctx context.Context, request any, s *replay.Stage, reply interface{ valid() error }) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s == nil {
		var err error
		if s, err = replay.Open(eval.Task{}, a.lay); err != nil {
			return err
		}
		defer func() { _ = s.Close() }()
	}
	c := process.Command{
		Path: a.path, Args: a.c.Args, Dir: s.Workspace, Env: s.Env(a.c.Config), Stdin: marshal(request),
		MaxOutput: a.c.MaxOutput,
	}
	if c.MaxOutput == 0 {
		c.MaxOutput = 16 << 20
	}
	if a.c.Sandbox {
		c.Sandbox = s.Sandbox(a.c.Hosts...)
	}
	res, err := process.Run(ctx, c)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return eval.Infraf(eval.Unreachable, "run %s: %s", filepath.Base(a.path), a.scrub(err.Error()))
	case res.Limit != "":
		return &eval.InfraError{Kind: eval.ServerError, Err: process.LimitError(res.Limit)}
	case res.Overflow:
		return eval.Infraf(eval.ServerError, "%s printed more than %d bytes", filepath.Base(a.path), c.MaxOutput)
	}
	if err := decode(res.Stdout, reply); err != nil {
		err = eval.Infraf(eval.ServerError, "the reply of %s (exit code %d): %s%s", filepath.Base(a.path), res.Exit,
			a.scrub(err.Error()), a.complaint(res.Stderr))
		if a.c.Sandbox && res.Exit == 127 {
			return problem.Hinted(err, notFound(a.path))
		}
		return err
	}
	return nil
}

// complaint is the end of the program's stderr.
func (a *Agent) complaint(stderr string) string {
	stderr = strings.TrimSpace(a.scrub(stderr))
	const most = 2 << 10 // a stack trace's last frames
	if over := len(stderr) - most; over > 0 {
		stderr = "…" + strings.ToValidUTF8(stderr[over:], "")
	}
	if stderr == "" {
		return ""
	}
	return "\n" + stderr
}

// scrub removes the credentials from a text.
func (a *Agent) scrub(text string) string {
	for _, kv := range a.c.Credentials {
		name, value, _ := strings.Cut(kv, "=")
		// A value of a few letters is a switch; many texts would contain it.
		if len(value) >= 6 {
			text = strings.ReplaceAll(text, value, "["+name+"]")
		}
	}
	return text
}
