package backend

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/claude"
	"github.com/skill-evolve/evolve/eval/agent/codex"
	"github.com/skill-evolve/evolve/eval/agent/command"
	"github.com/skill-evolve/evolve/eval/agent/copilot"
	"github.com/skill-evolve/evolve/eval/agent/handoff"
	"github.com/skill-evolve/evolve/eval/agent/openai"
	"github.com/skill-evolve/evolve/eval/agent/pi"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/store/datadir"
)

// An Answerer replays cases as an agent and answers prompts as a model.
type Answerer struct {
	Agent eval.Agent
	Model eval.Model
}

// both is a backend that is agent and model in one.
func both[T interface {
	eval.Agent
	eval.Model
}](x T, err error) (Answerer, error) {
	if err != nil {
		return Answerer{}, err
	}
	return Answerer{x, x}, nil
}

// A Kind is one backend as the command line knows it.
type Kind struct {
	Name string
	// Program is what has to be on PATH; "" for a backend that drives none.
	Program string
	Install string // what to type if it is missing
	// Credentials are the variables that it takes its key from; the first is
	// named in hints.
	Credentials []string
	Login       string // what to type if none is set
	// BaseEnv is the variable that names another server than the vendor's.
	BaseEnv string
	// Make opens it for one of the roles of a run.
	Make func(context.Context, *Opener, *agent.Spec, Settings) (Answerer, error)

	folder bool // it works in a folder, with tools
}

// Settings are what differs between the roles that a backend has in a run.
type Settings struct {
	Model, BaseURL string
	Price          *eval.Price
}

// Kinds are the backends that this build links, in the order in which they
// are tried if none is named.
var Kinds = []*Kind{
	{Name: "openai", Credentials: []string{"OPENAI_API_KEY"}, BaseEnv: "OPENAI_BASE_URL",
		Login: "export OPENAI_API_KEY=…, or name a server with --base-url", Make: makeOpenAI},
	{Name: "claude", Program: "claude", folder: true, Credentials: claude.Credentials, BaseEnv: "ANTHROPIC_BASE_URL",
		Install: claude.Install,
		Login:   "`" + claude.SetupToken + "`, then export CLAUDE_CODE_OAUTH_TOKEN=…; or export ANTHROPIC_API_KEY=…",
		Make:    cli(func(ctx context.Context, c replay.Config) (Answerer, error) { return both(claude.New(ctx, c)) }, claude.Credentials)},
	{Name: "codex", Program: "codex", folder: true, Credentials: codex.Credentials, BaseEnv: "OPENAI_BASE_URL",
		Install: codex.Install, Login: "export OPENAI_API_KEY=…",
		Make: cli(func(ctx context.Context, c replay.Config) (Answerer, error) { return both(codex.New(ctx, c)) }, codex.Credentials)},
	{Name: "pi", Program: "pi", folder: true, Credentials: pi.Credentials, BaseEnv: "PI_BASE_URL",
		Install: pi.Install, Login: "export ANTHROPIC_API_KEY=… or OPENAI_API_KEY=…",
		Make: cli(func(ctx context.Context, c replay.Config) (Answerer, error) { return both(pi.New(ctx, c)) }, pi.Credentials)},
	{Name: "copilot", Program: "copilot", folder: true, Credentials: copilot.Credentials, BaseEnv: "COPILOT_PROVIDER_BASE_URL",
		Install: copilot.Install, Login: "export COPILOT_GITHUB_TOKEN=…",
		Make: cli(func(ctx context.Context, c replay.Config) (Answerer, error) { return both(copilot.New(ctx, c)) }, copilot.Credentials)},
	{Name: "command", folder: true, Make: makeCommand},
	{Name: "handoff", folder: true, Make: makeHandoff},
	{Name: "simulated", Make: func(context.Context, *Opener, *agent.Spec, Settings) (Answerer, error) {
		w := simulated.Demo()
		return Answerer{w.Agent(), w.Model()}, nil
	}},
}

// kindOf finds a backend by its name; nil for none.
func kindOf(name string) *Kind {
	for _, k := range Kinds {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// Names are the names of all backends.
func Names() []string {
	names := make([]string, len(Kinds))
	for i, k := range Kinds {
		names[i] = k.Name
	}
	return names
}

// Credential names the first of its variables that the environment has, "" for none.
func (k *Kind) Credential(getenv func(string) string) string {
	for _, name := range k.Credentials {
		if getenv(name) != "" {
			return name
		}
	}
	return ""
}

func makeOpenAI(_ context.Context, o *Opener, b *agent.Spec, s Settings) (Answerer, error) {
	if s.Model == "" {
		return Answerer{}, problem.Inputf("for example --model gpt-5-mini, or the name that your server lists", "the openai backend needs a model")
	}
	o.Keys.Add(o.Getenv(b.APIKeyEnv))
	c, err := openai.New(openai.Config{BaseURL: s.BaseURL, APIKey: o.Getenv(b.APIKeyEnv), Model: s.Model, Prices: s.Price})
	if err != nil {
		return Answerer{}, problem.Inputf("check --base-url and --model", "openai backend: %v", err)
	}
	return both(c, nil)
}

// makeCommand makes the backend that runs the owner's own program.
func makeCommand(ctx context.Context, o *Opener, b *agent.Spec, s Settings) (Answerer, error) {
	if len(b.Command) == 0 {
		return Answerer{}, problem.Inputf("for example --command 'python3 my_agent.py'; docs/adding-an-agent.md has the contract", "the command backend needs --command")
	}
	c := command.Config{Config: replay.Config{Path: b.Command[0], Model: s.Model, Prices: s.Price, Sandbox: b.Sandbox != agent.SandboxNone, Asking: o.Access != datadir.Writes},
		Args: b.Command[1:], Hosts: b.AllowHosts}
	for _, name := range b.PassEnv {
		if v := o.Getenv(name); v != "" {
			c.Credentials = append(c.Credentials, name+"="+v)
			o.Keys.Add(v)
		}
	}
	return both(command.New(ctx, c))
}

// cli makes a backend that drives an agent's own program. It runs tools, so it
// runs in a sandbox unless the owner says otherwise.
func cli(open func(context.Context, replay.Config) (Answerer, error), credentials []string) func(context.Context, *Opener, *agent.Spec, Settings) (Answerer, error) {
	return func(ctx context.Context, o *Opener, b *agent.Spec, s Settings) (Answerer, error) {
		c := replay.Config{Model: s.Model, BaseURL: s.BaseURL, Prices: s.Price, Sandbox: b.Sandbox != agent.SandboxNone}
		var err error
		if c.Forbidden, err = o.forbidden(); err != nil {
			return Answerer{}, err
		}
		for _, name := range credentials {
			if v := o.Getenv(name); v != "" {
				c.Credentials = append(c.Credentials, name+"="+v)
				o.Keys.Add(v)
			}
		}
		return open(ctx, c)
	}
}

// makeHandoff makes the backend that puts requests into a folder.
func makeHandoff(_ context.Context, o *Opener, b *agent.Spec, s Settings) (Answerer, error) {
	dir := b.HandoffDir
	if dir == "" {
		h, err := datadir.Find(o.Getenv)
		if err != nil {
			return Answerer{}, err
		}
		dir = h.Handoff()
	}
	return both(handoff.New(handoff.Config{Dir: dir, By: s.Model, Wait: !o.NoWait, Asking: o.Access != datadir.Writes, Redactor: o.Keys.Redactor()}))
}
