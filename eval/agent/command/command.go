// Package command drives any program as an agent and as a model: one request, a
// JSON object, on its stdin, one reply, a JSON object, on its stdout.
// docs/adding-an-agent.md is the contract.
package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

// Config determines which program is driven, and how. Of replay.Config, Path is
// required (a path, or a name on PATH), Model is used if the program does not report
// its model itself, and BaseURL and MaxTurns are not used: the program gets its
// settings by arguments and variables. Prices are for replies that report their usage
// and no cost.
type Config struct {
	replay.Config
	// Args are part of the identity: no secrets. An argument that names a file, as seen
	// from the folder in which New is called, is passed on as its absolute path.
	Args []string
	// In a sandbox the program reaches the workspace, the system's folders, itself and
	// the files among its arguments, and what these two name.
	Readable []string // absolute files and folders: its libraries
	Hosts    []string // host:port: its model's
	// MaxOutput bounds a reply in bytes; 0 is 16 MiB.
	MaxOutput int64
}

// An Agent is an eval.Agent and an eval.Model. It never retries by itself. It is
// safe for concurrent use.
type Agent struct {
	c    Config
	path string   // absolute
	own  []string // the files that the program is: itself, and those among its arguments
	lay  replay.Layout
	id   eval.Identity
}

var (
	_ eval.Agent = (*Agent)(nil)
	_ eval.Model = (*Agent)(nil)
)

// pingTime is how long a program may take to answer a ping. An interpreter needs a
// second on a busy machine; no model is called.
const pingTime = 20 * time.Second

// New finds the program and pings it: its answer is part of the identity. The error is
// that it does not exist, or does not follow the contract.
func New(ctx context.Context, c Config) (*Agent, error) {
	if c.Path == "" {
		return nil, errors.New("configure command: no program")
	}
	path, err := replay.OnPath(c.Path)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, fmt.Errorf("configure command: %w", err)
	}
	c.Path = path // a bare name is searched on PATH
	for _, kv := range slices.Concat(c.Credentials, c.Env) {
		if name, _, ok := strings.Cut(kv, "="); !ok || name == "" {
			// The text is left out: it may be a key.
			return nil, errors.New("configure command: a variable is not written as KEY=VALUE")
		}
	}
	program, err := replay.Find(c.Config, filepath.Base(path))
	if err != nil {
		return nil, fmt.Errorf("configure command: %w", err)
	}
	// The program is started by the given path: an interpreter in a virtual environment
	// is a link, and finds its environment by it.
	a := &Agent{c: c, path: path, own: []string{path}}
	version, err := a.fingerprint()
	if err != nil {
		return nil, fmt.Errorf("configure command: %w", err)
	}
	program.Readable = slices.Concat(program.Readable, a.own, c.Readable)
	a.lay = replay.Layout{Program: program, Forbidden: c.Forbidden}
	is, err := a.ping(ctx)
	if err != nil {
		return nil, fmt.Errorf("configure command: ping %s: %w", filepath.Base(path), err)
	}
	a.id = eval.Identity{Backend: "command", Version: version, Model: c.Model, Params: a.params()}
	if is.Model != "" {
		a.id.Model = is.Model
	}
	if is.Version != "" {
		a.id.Version = is.Version + " " + version
	}
	return a, nil
}

// fingerprint hashes the program and the files among its arguments: the script is the
// agent, its interpreter is not. These are also the files that the program may read in
// a sandbox.
func (a *Agent) fingerprint() (string, error) {
	a.c.Args = slices.Clone(a.c.Args)
	for i, arg := range a.c.Args {
		at, err := filepath.Abs(arg)
		if err != nil {
			return "", err
		}
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() {
			a.c.Args[i], a.own = at, append(a.own, at) // it will run elsewhere
		}
	}
	sum := sha256.New()
	for _, name := range a.own {
		f, err := bounded.Open(name)
		if err != nil {
			return "", err
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return "", fmt.Errorf("read %s: %w", name, err)
		}
		sum.Write(h.Sum(nil))
	}
	return hex.EncodeToString(sum.Sum(nil)[:6]), nil
}

// params is everything else that can change an answer. The folders of files do not: the
// same script elsewhere is the same agent.
func (a *Agent) params() string {
	p := struct {
		Program string   `json:"program"`
		Args    []string `json:"args,omitempty"`
		Env     []string `json:"env,omitempty"`
	}{Program: filepath.Base(a.path)}
	for _, arg := range a.c.Args {
		if slices.Contains(a.own, arg) {
			arg = filepath.Base(arg)
		}
		p.Args = append(p.Args, arg)
	}
	for _, kv := range a.c.Env {
		name, value, _ := strings.Cut(kv, "=")
		sum := sha256.Sum256([]byte(value))
		p.Env = append(p.Env, name+"="+hex.EncodeToString(sum[:4]))
	}
	slices.Sort(p.Env)
	text, err := json.Marshal(p)
	if err != nil {
		panic("command: identity: " + err.Error()) // strings
	}
	return string(text)
}

// Identity names the program by its content, its arguments and its model.
func (a *Agent) Identity() eval.Identity { return a.id }

// Ping returns why the program cannot work; nil if it reports that it can, or does not
// know pings. The error is an *eval.InfraError, or ctx's.
func (a *Agent) Ping(ctx context.Context) error {
	_, err := a.ping(ctx)
	return err
}

func (a *Agent) ping(ctx context.Context) (pong, error) {
	limited, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	var p pong
	err := a.ask(limited, pingRequest{Version, kindPing}, nil, &p)
	switch {
	case err != nil && ctx.Err() == nil && limited.Err() != nil:
		return p, eval.Infraf(eval.Unreachable, "no answer to a ping within %v", pingTime)
	case err != nil:
		return p, err
	case p.Error == nil:
		return p, nil
	case p.Error.Kind == eval.BadRequest: // it knows no ping
		return pong{}, nil
	}
	return pong{}, p.Error.infra(a.scrub)
}

// Run asks for one attempt. The workspace is the program's working folder.
func (a *Agent) Run(ctx context.Context, t eval.Task) (eval.Attempt, error) {
	if err := ctx.Err(); err != nil {
		return eval.Attempt{}, err
	}
	s, err := replay.Open(t, a.lay)
	if err != nil {
		return eval.Attempt{}, err
	}
	// What cannot be removed is no reason to lose the rollout.
	defer func() { _ = s.Close() }()
	var r taskReply
	var limit process.LimitError
	if err := a.ask(ctx, a.request(t, s), s, &r); errors.As(err, &limit) {
		r.Failure = limit.Error()
	} else if err != nil {
		return eval.Attempt{}, err
	}
	if r.Error != nil {
		return eval.Attempt{}, r.Error.infra(a.scrub)
	}
	out := eval.Attempt{
		Answer: a.scrub(r.Answer), Failure: a.scrub(r.Failure),
		Usage: r.Usage, CostUSD: a.cost(r.Usage, r.CostUSD), Turns: r.Turns,
		Duration: time.Duration(r.DurationMS * float64(time.Millisecond)),
	}
	a.trace(&out, r.Trace, s)
	if out.Files, err = s.Changed(); err != nil {
		return eval.Attempt{}, err
	}
	if r.Skills != nil {
		out.Loaded(t.Variant, *r.Skills)
	}
	if out.Failure == "" && strings.TrimSpace(out.Answer) == "" {
		out.Failure = replay.Empty
	}
	return out, nil
}

// request is t in the form of the contract.
func (a *Agent) request(t eval.Task, s *replay.Stage) taskRequest {
	r := taskRequest{Evolve: Version, Kind: kindTask, Prompt: t.Case.Prompt, Workspace: s.Workspace, Seed: t.Seed,
		// Lists are never null, so that programs in any language can iterate over them.
		Others: []offered{}, Context: append([]eval.Message{}, t.Case.Context...), Files: t.Case.Files}
	if r.Files == nil {
		r.Files = map[string]string{}
	}
	if t.Variant.Doc != nil {
		r.Skill = &offered{Name: t.Variant.Name, Dir: s.Skill, Text: string(t.Variant.Doc.Render()), Path: replay.Path(t)}
		r.Forced = t.Case.ShouldTrigger == nil
	}
	for _, o := range t.Others {
		r.Others = append(r.Others, offered{Name: o.Name, Dir: filepath.Join(s.Skills, o.Name)})
	}
	if t.Prior != nil {
		r.Prior = &prior{t.Prior.Answer, append([]string{}, t.Prior.Feedback...)}
	}
	return r
}

// trace records and audits the calls. A program without any may have read anything,
// unless it ran in a sandbox.
func (a *Agent) trace(out *eval.Attempt, calls []call, s *replay.Stage) {
	var accesses []replay.Access
	for i := range calls {
		c := &calls[i]
		accesses = append(accesses, replay.Accesses(c.Name, c.Input, c.Failed)...)
		out.Trace = append(out.Trace, eval.ToolCall{Name: a.scrub(c.Name), Input: a.scrub(c.text()), Failed: c.Failed})
	}
	if len(accesses) == 0 && !a.c.Sandbox {
		out.Audit = eval.Inconclusive
		return
	}
	out.Audit, out.Tainted = s.Audit(a.c.Sandbox, accesses...)
	out.Tainted = a.scrub(out.Tainted)
}

// Complete asks for the reply to one prompt.
func (a *Agent) Complete(ctx context.Context, p eval.Prompt) (eval.Completion, error) {
	var r textReply
	request := textRequest{Version, kindComplete, p.System, p.User, p.MaxTokens, p.Seed}
	if err := a.ask(ctx, request, nil, &r); err != nil {
		return eval.Completion{}, err
	}
	if r.Error != nil {
		return eval.Completion{}, r.Error.infra(a.scrub)
	}
	if r.Finish == "" {
		r.Finish = "stop"
	}
	return eval.Completion{Text: a.scrub(r.Text), Finish: r.Finish, Usage: r.Usage, CostUSD: a.cost(r.Usage, r.CostUSD)}, nil
}

// cost is the program's figure, else its usage at the price table's prices.
func (a *Agent) cost(u *eval.Usage, usd *float64) *float64 {
	if usd != nil {
		return usd
	}
	return a.c.Prices.USD(u)
}
