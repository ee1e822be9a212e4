// Package handoff takes its answers from a person, or from a coding agent in a session
// of its own. Every request becomes a folder with a file that describes the task, and
// the answer is taken from a file beside it.
package handoff

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// Config determines the folder of requests, and whether to wait for their answers.
type Config struct {
	Dir string // of all requests; made if it is missing, 0700
	// Asking: no request will be put into Dir, so it is not made.
	Asking bool
	// By names who answers, in the owner's words. It is part of the identity, because
	// another person's answers are another measurement.
	By string
	// Run names the run, so that its requests can be removed: see Clean.
	Run string
	// Wait blocks every call until it is answered. Otherwise a call without an answer
	// puts its request into Dir and returns an *eval.InfraError of kind Pending.
	Wait bool
	// Quiet is how long an answer's files must be unchanged before they are taken, and
	// how often a waiting call looks; 0 is 2 s.
	Quiet    time.Duration
	Redactor eval.Redactor // applied to every text of a request; nil changes nothing
}

// An Agent is an eval.Agent and an eval.Model. It is safe for concurrent use, and
// several processes may share a folder.
//
// People need more time than a wall clock: give the Evaluator and the Metered around a
// waiting Agent none, and as much concurrency as requests should be open at once. If a
// wall clock ends a wait, the request is pending, and never a bad answer.
type Agent struct {
	c   Config
	box box
}

var (
	_ eval.Agent = (*Agent)(nil)
	_ eval.Model = (*Agent)(nil)
)

// New makes the folder, unless Config.Asking is set.
func New(c Config) (*Agent, error) {
	if c.Dir == "" {
		return nil, errors.New("configure handoff: no folder for the requests")
	}
	dir, err := filepath.Abs(c.Dir)
	if err == nil && !c.Asking {
		err = os.MkdirAll(filepath.Join(dir, answered), 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("configure handoff: %w", err)
	}
	if c.Quiet <= 0 {
		c.Quiet = 2 * time.Second
	}
	c.Dir = dir
	return &Agent{c: c, box: box{dir}}, nil
}

// Identity names who answers.
func (a *Agent) Identity() eval.Identity { return eval.Identity{Backend: "handoff", Model: a.c.By} }

// Ping returns why no request can be put into the folder; nil if one can.
func (a *Agent) Ping(context.Context) error {
	f, err := os.CreateTemp(a.c.Dir, newPrefix)
	if err != nil {
		return eval.Infraf(eval.Unreachable, "write into the folder for requests: %w", err)
	}
	f.Close()
	return os.Remove(f.Name())
}

// Run puts one task as a request. The answerer's changes to the request's workspace are
// copied to the task's. The latency is unknown: a person's speed says nothing about a
// skill.
func (a *Agent) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	if err := ctx.Err(); err != nil {
		return eval.Attempt{}, err
	}
	got, err := a.await(ctx, a.task(t), &t)
	if err != nil {
		return eval.Attempt{}, err
	}
	s, err := replay.Open(t, replay.Layout{})
	if err != nil {
		return eval.Attempt{}, err
	}
	defer func() { _ = s.Close() }() // what cannot be removed is no reason to lose the answer
	if err := mirror(s.Workspace, filepath.Join(got.dir, workspace)); err != nil {
		return eval.Attempt{}, fmt.Errorf("take over the workspace of request %s: %w", got.id, err)
	}
	out := eval.Attempt{
		Answer: got.Answer, Failure: got.Failure, Usage: got.Usage, CostUSD: got.CostUSD, Turns: got.Turns,
		Untimed: true,
		Audit:   eval.Inconclusive, // the answerer was not in a sandbox
	}
	for _, c := range got.Trace {
		out.Trace = append(out.Trace, eval.ToolCall(c))
	}
	if got.Skills != nil {
		out.Loaded(t.Variant, *got.Skills)
	}
	if out.Files, err = s.Changed(); err != nil {
		return eval.Attempt{}, err
	}
	return out, nil
}

// Complete puts one prompt as a request.
func (a *Agent) Complete(ctx context.Context, p eval.Prompt) (eval.Completion, error) {
	if err := ctx.Err(); err != nil {
		return eval.Completion{}, err
	}
	got, err := a.await(ctx, a.prompt(p), nil)
	if err != nil {
		return eval.Completion{}, err
	}
	c := eval.Completion{Text: got.Answer, Finish: "stop", Usage: got.Usage, CostUSD: got.CostUSD}
	if got.Failure != "" {
		// A model that failed has no usable text.
		c.Text, c.Finish = "", got.Failure
	}
	return c, nil
}

// await puts r into the folder, unless it is there already, and looks for its answer:
// once, or until there is one, if Config.Wait is set. t is nil for a prompt.
func (a *Agent) await(ctx context.Context, r *request, t *eval.Task) (*answer, error) {
	var last stamp
	told := ""
	for again := false; ; again = true {
		got, at, err := a.box.look(r.ID)
		switch {
		case errors.Is(err, os.ErrNotExist):
			// New, or cleaned away meanwhile: it is still needed.
			if err := a.put(r, t); err != nil {
				return nil, err
			}
			continue
		case err != nil && !errors.As(err, new(unusable)):
			return nil, fmt.Errorf("look for the answer to request %s: %w", r.ID, err)
		case err == nil && got != nil && (got.taken || at == last || at.age() >= a.c.Quiet):
			return got, a.take(got)
		}
		if problem := complaint(err); problem != told {
			told = problem
			if err := a.box.index(); err != nil {
				return nil, err
			}
		}
		// An answer that may still grow is looked at a second time.
		if !a.c.Wait && (got == nil || again) {
			return nil, a.pending(r, told)
		}
		last = at
		if err := eval.Sleep(ctx, a.c.Quiet); errors.Is(err, context.DeadlineExceeded) {
			return nil, a.pending(r, told)
		} else if err != nil {
			return nil, err
		}
	}
}

// take puts an answered request away, so that only open ones are left.
func (a *Agent) take(got *answer) error {
	if got.taken {
		return nil
	}
	if err := a.box.putAway(got); err != nil {
		return fmt.Errorf("put away request %s: %w", got.id, err)
	}
	return nil
}

func (a *Agent) pending(r *request, problem string) error {
	text := fmt.Sprintf("request %s is not answered yet; see %s", r.ID, filepath.Join(a.c.Dir, indexName))
	if problem != "" {
		text = fmt.Sprintf("the answer to request %s cannot be used: %s; see %s", r.ID, problem, filepath.Join(a.c.Dir, indexName))
	}
	return eval.Infraf(eval.Pending, "%s", text)
}

func complaint(err error) string {
	if err == nil {
		return ""
	}
	return strings.TrimSpace(err.Error())
}
