// Package pi replays cases through the pi coding agent, and asks it for plain
// text: an eval.Agent and an eval.Model.
package pi

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
)

// tools are those that a replay may use: the program's default, which is independent of
// all settings.
const tools = "read,bash,edit,write"

// maxOutput limits the event stream of one run, in bytes. While a command runs, the
// program repeats the last 50 kB of its output.
const maxOutput = 1 << 30

// An Agent drives the program: one child per call, with a home of its own. It is
// safe for concurrent use.
type Agent struct {
	conf  replay.Config
	prog  *program
	route *route
	id    eval.Identity
	now   func() time.Time
	keys  replay.Secrets
}

var (
	_ eval.Agent = (*Agent)(nil)
	_ eval.Model = (*Agent)(nil)
)

// New finds the program and asks for its version; the model is not called. Config.Model
// is "provider/model", with the program's own names of providers, or a model of the
// provider whose key is set; with a BaseURL it is the server's own name. The error
// gives the command that helps.
func New(ctx context.Context, c replay.Config) (*Agent, error) {
	r, err := routeOf(c)
	if err != nil {
		return nil, err
	}
	if c.Sandbox {
		if err := process.Available(); err != nil {
			return nil, fmt.Errorf("make a sandbox: %w", err)
		}
	}
	p, err := find(ctx, c)
	if err != nil {
		return nil, err
	}
	if c.MaxTurns == 0 {
		c.MaxTurns = 30
	}
	// The child does not get other providers' keys.
	c.Credentials = r.env
	a := &Agent{conf: c, prog: p, route: r, now: time.Now, keys: secrets(c.Credentials)}
	a.id = eval.Identity{Backend: "pi", Version: p.version, Model: r.model, Params: a.params()}
	return a, nil
}

// params is all but the model that can change an answer.
func (a *Agent) params() string {
	p := a.route.params() + fmt.Sprintf(" tools=%s turns=%d", tools, a.conf.MaxTurns)
	if a.conf.Sandbox {
		p += " sandbox"
	}
	return p + a.conf.OwnerParams() + a.conf.EnvParams("")
}

// Identity names program, version, model and parameters.
func (a *Agent) Identity() eval.Identity { return a.id }

// Ping returns why the agent cannot work; nil if it can. New has asked the program for
// its version, and a vendor's server is not called; a custom server is contacted,
// because that is most often unavailable.
func (a *Agent) Ping(ctx context.Context) error {
	if a.route.base == nil {
		return nil
	}
	return replay.Reach(ctx, a.route.hosts[0])
}

// Run replays one task. The skill is called by its command, "/skill:NAME"; in a trigger
// case it is only offered.
//
// The error is an *eval.InfraError, or ctx's. If ctx's time ran out while the program
// waited to retry after a failure of the server, it is the former: the candidate had no
// part in it.
func (a *Agent) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	stage, err := replay.Open(t, a.layout())
	if err != nil {
		return eval.Attempt{}, err
	}
	defer stage.Close()
	args := []string{"--no-skills", "--no-extensions", "--no-prompt-templates"}
	if a.conf.Owner == nil {
		args = append(args, "--no-context-files")
	}
	args = append(args, "--no-themes", "--no-approve", "--no-session", "--tools", tools)
	name := t.Variant.Name
	var offers []offer
	if stage.Skill != "" {
		if own := t.Variant.Doc.Name(); own != "" {
			name = own // the program goes by the frontmatter
		}
		args = append(args, "--skill", stage.Skill)
		offers = append(offers, offer{t.Variant.Name, filepath.Join(stage.Skill, "SKILL.md")})
	}
	for _, o := range t.Others {
		dir := filepath.Join(stage.Skills, o.Name)
		args = append(args, "--skill", dir)
		offers = append(offers, offer{o.Name, filepath.Join(dir, "SKILL.md")})
	}
	// The program itself would load these of a project that is trusted, and its extensions and
	// settings with them.
	for _, dir := range stage.ProjectSkills(".pi/skills", ".agents/skills") {
		args = append(args, "--skill", dir)
		offers = append(offers, offer{filepath.Base(dir), filepath.Join(dir, "SKILL.md")})
	}
	s := &stream{offers: offers, dir: stage.Workspace, maxTurns: a.conf.MaxTurns, now: a.now}
	var sandbox *process.Sandbox
	if a.conf.Sandbox {
		sandbox = stage.Sandbox(a.route.hosts...)
	}
	res, err := a.drive(ctx, stage, s, sandbox, 0, replay.Prompt(t, "/skill:"+name), args)
	out := a.attempt(s, t.Variant)
	late := errors.Is(err, context.DeadlineExceeded)
	switch {
	case late:
		out.Duration = 0 // the stream ends with the model's last text
	case errors.Is(err, errTurns):
		out.Failure = fmt.Sprintf("no end of the work within %d turns", a.conf.MaxTurns)
	case err != nil:
		return out, a.keys.Error(err)
	case res.Limit != "":
		out.Failure = res.Limit
	case res.Overflow:
		out.Failure = fmt.Sprintf("it printed more than %d MiB", maxOutput>>20)
	default:
		if out.Failure, err = s.outcome(res.Stderr); err != nil {
			return out, a.keys.Error(err)
		}
	}
	files, cerr := stage.Changed()
	out.Files = files
	if cerr == nil && !late {
		out.Work, cerr = stage.Work(ctx, files, s.calls.Accesses(), s.broken == nil, a.keys)
	}
	out.Audit, out.Tainted = stage.Audit(a.conf.Sandbox, s.calls.Accesses()...)
	out.Tainted = a.keys.Text(out.Tainted)
	if late {
		return out, err // an attempt nevertheless: it took too long
	}
	return out, cerr
}

// attempt is what a run came to, but for its failure, files and audit.
func (a *Agent) attempt(s *stream, v eval.Variant) eval.Attempt {
	usage, usd := s.took(a.conf.Prices)
	out := eval.Attempt{
		Model: s.last.Model, Trace: s.calls.Trace(a.keys), Usage: usage, CostUSD: usd, Duration: s.duration(),
		Turns: s.answers, InfraRetries: s.retries,
	}
	out.Loaded(v, s.skills)
	if s.last.StopReason == "stop" || s.last.StopReason == "length" {
		out.Answer = a.keys.Text(s.last.text())
	}
	return out
}

// drive runs the program once on stage with text on stdin, and feeds s.
func (a *Agent) drive(ctx context.Context, stage *replay.Stage, s *stream, sandbox *process.Sandbox, maxTokens int,
	text string, args []string) (*process.Result, error) {
	if err := a.route.writeConfig(stage.Config, maxTokens); err != nil {
		return nil, fmt.Errorf("configure pi: %w", err)
	}
	own := []string{"--provider", a.route.provider}
	if a.route.model != "" {
		own = append(own, "--model", a.route.model)
	}
	own = append(append(own, "--print", "--mode", "json"), args...)
	res, err := process.Run(ctx, process.Command{
		Path: a.prog.exec, Args: a.prog.args(own...), Dir: stage.Workspace,
		Env: stage.Env(a.conf, quiet(stage.Config)...), Stdin: []byte(text),
		Line: s.line, MaxOutput: maxOutput, Sandbox: sandbox,
	})
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && s.failing != "" {
		e := infra(s.failing, a.now())
		e.Err = fmt.Errorf("no time was left to try again after: %w", e.Err)
		return res, e
	}
	return res, err
}

func (a *Agent) layout() replay.Layout {
	return replay.Layout{Config: ".pi/agent", Program: a.prog.Program, Forbidden: a.conf.Forbidden, Owner: a.conf.Owner}
}
