// Package codex replays cases through the Codex CLI, `codex exec --json`, and
// asks it for text. Every call has a home of its own that is removed after it:
// nothing of the owner's is read but an auth.json that is named, nothing is
// written.
package codex

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/eval/scratch"
)

// configFolder is CODEX_HOME below a home.
const configFolder = ".codex"

// An Agent is an eval.Agent and an eval.Model. It is safe for concurrent use:
// each call is a child of its own.
type Agent struct {
	c       replay.Config
	program replay.Program
	login   login
	id      eval.Identity
	now     func() time.Time
	// records reads what the program wrote down of the thread, nil if it
	// wrote nothing.
	records func(s *replay.Stage, thread string, secrets replay.Secrets) (*session, error)
	ran     func(*process.Result) // told of each child that ended; for benchmarks

	models struct { // the catalogue for text-only calls, made when it is first needed
		sync.Mutex
		made bool
		text []byte
	}
}

var (
	_ eval.Agent = (*Agent)(nil)
	_ eval.Model = (*Agent)(nil)
)

// New finds the program and asks it for its version. Of c, MaxTurns has no
// effect: the program cannot limit them. The error says what to type where the
// program is missing.
func New(ctx context.Context, c replay.Config) (*Agent, error) {
	a := &Agent{c: c, now: time.Now, records: readSessions}
	if c.BaseURL != "" {
		if _, _, err := replay.Server("codex", c.BaseURL); err != nil {
			return nil, err
		}
	}
	var err error
	if a.login, err = loginOf(c.Credentials, c.BaseURL); err != nil {
		return nil, fmt.Errorf("configure codex: %w", err)
	}
	if a.program, err = replay.Find(c, "codex"); err != nil {
		return nil, fmt.Errorf("%w; %s", err, installHint)
	}
	if c.Sandbox {
		if err := process.Available(); err != nil {
			return nil, fmt.Errorf("configure codex: no sandbox: %w", err)
		}
	}
	out, err := a.ask(ctx, "--version")
	if err != nil {
		return nil, err
	}
	// "codex-cli 0.169.0"
	fields := strings.Fields(string(out))
	if len(fields) == 0 {
		return nil, fmt.Errorf("ask %s for its version: it says nothing; %s", a.program.Path, installHint)
	}
	if err := replay.AtLeast("codex", fields[len(fields)-1], oldest, installHint); err != nil {
		return nil, err
	}
	a.id = eval.Identity{Backend: "codex", Version: fields[len(fields)-1], Model: c.Model, Params: a.params()}
	return a, nil
}

// ask runs the program for what it prints, with a home of its own.
func (a *Agent) ask(ctx context.Context, args ...string) (out []byte, err error) {
	s, err := replay.Open(eval.Task{}, a.layout())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	what := strings.Join(args, " ")
	res, err := process.Run(ctx, process.Command{Path: a.program.Path, Args: args, Dir: s.Workspace, Env: a.env(s)})
	if err != nil {
		return nil, fmt.Errorf("run codex %s: %w", what, err)
	}
	if res.Exit != 0 {
		return nil, fmt.Errorf("run codex %s: %s", what, newStream(a.now).unended(res.Exit, res.Stderr).text)
	}
	return res.Stdout, nil
}

func (a *Agent) layout() replay.Layout {
	return replay.Layout{Config: configFolder, Program: a.program, Forbidden: a.c.Forbidden, Owner: a.c.Owner}
}

// env is the child's environment. TMPDIR of the stage is beside the home: the
// program refuses to make its helpers where CODEX_HOME lies in the folder for
// temporary files, and without them every command fails.
func (a *Agent) env(s *replay.Stage) []string {
	c := a.c
	c.Credentials = a.login.env()
	return s.Env(c, "CODEX_HOME="+s.Config)
}

// Identity names program, version, model and parameters.
func (a *Agent) Identity() eval.Identity { return a.id }

// Run replays one task. Errors are an *eval.InfraError, ctx's, or tell why the
// program could not be run.
func (a *Agent) Run(ctx context.Context, t eval.Task) (out eval.Attempt, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	s, err := replay.Open(t, a.layout())
	if err != nil {
		return out, fmt.Errorf("run codex: %w", err)
	}
	// What cannot be removed is no reason to lose the attempt.
	defer func() { _ = s.Close() }()
	c := process.Command{Dir: s.Workspace, Args: a.replayArgs(s), Stdin: []byte(replay.Prompt(t, "$"+t.Variant.Name))}
	if a.c.Sandbox {
		c.Sandbox = s.Sandbox(a.hosts()...)
	}
	st, err := a.exec(ctx, s, c)
	if err != nil {
		return out, err
	}
	ses, err := a.records(s, st.thread, st.secrets)
	if err != nil {
		return out, err
	}
	if ses != nil {
		st.broken += ses.broken
	}
	steps := ses.merge(st.steps)
	if !a.c.Sandbox {
		if why := ses.barred(steps, s.Workspace); why != "" {
			return out, eval.Infraf(eval.BadRequest, "codex's own sandbox does not work on this machine (%s): replay in evolve's", why)
		}
	}
	out = a.attempt(t, st, ses, steps)
	changed, err := s.Changed()
	if err != nil {
		return out, fmt.Errorf("run codex: look at workspace: %w", err)
	}
	out.Files = filesOf(changed, steps, s.Workspace)
	accesses := accessesOf(steps)
	if out.Work, err = s.Work(ctx, changed, accesses, st.broken == 0, st.secrets); err != nil {
		return out, fmt.Errorf("run codex: look at workspace: %w", err)
	}
	out.Audit, out.Tainted = s.Audit(a.c.Sandbox, accesses...)
	out.Tainted = st.secrets.Text(out.Tainted)
	if out.Audit == eval.Clean && st.broken > 0 && !a.c.Sandbox {
		out.Audit = eval.Inconclusive // a line that cannot be read may tell of anything
	}
	return out, nil
}

// A run is what came of one child whose turn ended.
type run struct {
	*stream
	secrets replay.Secrets
	verdict verdict // of a turn that failed; the agent's own failure
}

// exec runs the program in s. The error is ctx's, or that of infrastructure: a
// run that is returned ended in an answer or in the agent's own failure.
func (a *Agent) exec(ctx context.Context, s *replay.Stage, c process.Command) (*run, error) {
	r := &run{stream: newStream(a.now), secrets: scrubber(a.login.key)}
	more, err := a.login.copy(s.Config, a.now())
	if err != nil {
		return nil, err
	}
	if len(more) > 0 {
		defer os.Remove(filepath.Join(s.Config, "auth.json"))
		r.secrets = scrubber(append(more, a.login.key)...)
	}
	c.Path, c.Env = a.program.Path, a.env(s)
	c.Line = func(line []byte) error { return r.line(r.secrets.Line(line)) }
	res, err := process.Run(ctx, c)
	if a.ran != nil && res != nil {
		a.ran(res)
	}
	switch {
	case errors.Is(err, errHopeless):
	case err != nil && ctx.Err() != nil:
		// Time that ran out while the program was waiting to ask again is no
		// fault of the agent.
		if errors.Is(ctx.Err(), context.DeadlineExceeded) && r.retrying != "" {
			if v := classify(r.retrying, a.now()); v.infra != "" {
				return nil, v.err()
			}
		}
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("run codex: %w", err)
	case res.Limit != "":
		r.verdict = verdict{text: res.Limit}
		return r, nil
	case !r.ended && res.Overflow:
		r.verdict = verdict{text: "the agent printed more than is read of one attempt"}
		return r, nil
	case !r.ended:
		v := r.unended(res.Exit, r.secrets.Text(res.Stderr))
		return nil, v.err()
	}
	if r.failure != "" {
		if r.verdict = classify(r.failure, a.now()); r.verdict.infra != "" {
			return nil, r.verdict.err()
		}
	}
	return r, nil
}

// CheckSandbox says why replays without evolve's sandbox cannot work: then the
// program's own holds its commands, and it needs more than every machine gives.
// It runs `true` in it. Text-only calls need none.
func (a *Agent) CheckSandbox(ctx context.Context) error {
	if _, err := a.ask(ctx, "sandbox", "--", "true"); err != nil {
		return fmt.Errorf("codex's own sandbox does not work here, replay in evolve's: %w", err)
	}
	return nil
}

// Ping says why the agent cannot reach its model, with what to type; nil if
// it can. It costs nothing: a server is asked for its list of models, a login is
// looked at.
func (a *Agent) Ping(ctx context.Context) error {
	if a.login.file != "" {
		dir, err := scratch.Dir("", "evolve-replay-")
		if err != nil {
			return fmt.Errorf("ping codex: %w", err)
		}
		defer os.RemoveAll(dir)
		_, err = a.login.copy(dir, a.now())
		return err
	}
	if a.login.variable == "" && a.c.BaseURL == "" {
		return eval.Infraf(eval.Auth, "codex has no login here: %s", loginHint)
	}
	return a.knock(ctx)
}
