package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/claude"
	"github.com/skill-evolve/evolve/eval/agent/codex"
	"github.com/skill-evolve/evolve/eval/agent/command"
	"github.com/skill-evolve/evolve/eval/agent/copilot"
	"github.com/skill-evolve/evolve/eval/agent/openai"
	"github.com/skill-evolve/evolve/eval/agent/pi"
	"github.com/skill-evolve/evolve/eval/agent/process"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/store/datadir"
)

// An answerer replays cases as an agent and answers prompts as a model.
type answerer struct {
	agent eval.Agent
	model eval.Model
}

// both is a backend that is agent and model in one.
func both[T interface {
	eval.Agent
	eval.Model
}](x T, err error) (answerer, error) {
	if err != nil {
		return answerer{}, err
	}
	return answerer{x, x}, nil
}

// An agentKind is one backend as the command line knows it.
type agentKind struct {
	name string
	// program is what has to be on PATH; "" for a backend that drives none.
	program string
	install string // what to type where it is missing
	folder  bool   // it works in a folder, with tools
	// credentials are the variables that it takes its key from; the first is
	// named in hints.
	credentials []string
	login       string // what to type where none is set
	// baseEnv is the variable that names another server than the vendor's.
	baseEnv string
	make    func(context.Context, *app, *backendFlags, settings) (answerer, error)
}

// settings are what differs between the roles that a backend plays in a run.
type settings struct {
	model, baseURL string
	price          *eval.Price
}

// agentKinds are the backends that this build links, in the order in which they
// are tried where none is named.
var agentKinds = []*agentKind{
	{name: "openai", credentials: []string{"OPENAI_API_KEY"}, baseEnv: "OPENAI_BASE_URL",
		login: "export OPENAI_API_KEY=…, or name a server with --base-url", make: makeOpenAI},
	{name: "claude", program: "claude", folder: true, credentials: claude.Credentials, baseEnv: "ANTHROPIC_BASE_URL",
		install: claude.Install,
		login:   "`" + claude.SetupToken + "`, then export CLAUDE_CODE_OAUTH_TOKEN=…; or export ANTHROPIC_API_KEY=…",
		make:    cli(func(ctx context.Context, c replay.Config) (answerer, error) { return both(claude.New(ctx, c)) }, claude.Credentials)},
	{name: "codex", program: "codex", folder: true, credentials: codex.Credentials, baseEnv: "OPENAI_BASE_URL",
		install: codex.Install, login: "export OPENAI_API_KEY=…",
		make: cli(func(ctx context.Context, c replay.Config) (answerer, error) { return both(codex.New(ctx, c)) }, codex.Credentials)},
	{name: "pi", program: "pi", folder: true, credentials: pi.Credentials, baseEnv: "PI_BASE_URL",
		install: pi.Install, login: "export ANTHROPIC_API_KEY=… or OPENAI_API_KEY=…",
		make: cli(func(ctx context.Context, c replay.Config) (answerer, error) { return both(pi.New(ctx, c)) }, pi.Credentials)},
	{name: "copilot", program: "copilot", folder: true, credentials: copilot.Credentials, baseEnv: "COPILOT_PROVIDER_BASE_URL",
		install: copilot.Install, login: "export COPILOT_GITHUB_TOKEN=…",
		make: cli(func(ctx context.Context, c replay.Config) (answerer, error) { return both(copilot.New(ctx, c)) }, copilot.Credentials)},
	{name: "command", folder: true, make: makeCommand},
	{name: "handoff", folder: true, make: makeHandoff},
	{name: "simulated", make: func(context.Context, *app, *backendFlags, settings) (answerer, error) {
		w := simulated.Demo()
		return answerer{w.Agent(), w.Model()}, nil
	}},
}

// kindOf finds a backend by its name; nil for none.
func kindOf(name string) *agentKind {
	for _, k := range agentKinds {
		if k.name == name {
			return k
		}
	}
	return nil
}

// agentNames are the names of all backends.
func agentNames() []string {
	names := make([]string, len(agentKinds))
	for i, k := range agentKinds {
		names[i] = k.name
	}
	return names
}

// set names the first credential that the environment has, "" for none.
func (k *agentKind) set(a *app) string {
	for _, name := range k.credentials {
		if a.Getenv(name) != "" {
			return name
		}
	}
	return ""
}

func makeOpenAI(_ context.Context, a *app, b *backendFlags, s settings) (answerer, error) {
	if s.model == "" {
		return answerer{}, problem.Inputf("for example --model gpt-5-mini, or the name that your server lists", "the openai backend needs a model")
	}
	a.keys.Add(a.Getenv(b.APIKeyEnv))
	c, err := openai.New(openai.Config{BaseURL: s.baseURL, APIKey: a.Getenv(b.APIKeyEnv), Model: s.model, Prices: s.price})
	if err != nil {
		return answerer{}, problem.Inputf("check --base-url and --model", "openai backend: %v", err)
	}
	return both(c, nil)
}

// makeCommand makes the backend that runs the owner's own program.
func makeCommand(ctx context.Context, a *app, b *backendFlags, s settings) (answerer, error) {
	if len(b.Command) == 0 {
		return answerer{}, problem.Inputf("for example --command 'python3 my_agent.py'; docs/adding-an-agent.md has the contract", "the command backend needs --command")
	}
	c := command.Config{Config: replay.Config{Path: b.Command[0], Model: s.model, Prices: s.price, Sandbox: b.Sandbox != agent.SandboxNone, Asking: a.access != datadir.Writes},
		Args: b.Command[1:], Hosts: b.AllowHosts}
	for _, name := range b.PassEnv {
		if v := a.Getenv(name); v != "" {
			c.Credentials = append(c.Credentials, name+"="+v)
			a.keys.Add(v)
		}
	}
	return both(command.New(ctx, c))
}

// cli makes a backend that drives an agent's own program. It runs tools, so it
// runs in a sandbox unless the owner says otherwise.
func cli(open func(context.Context, replay.Config) (answerer, error), credentials []string) func(context.Context, *app, *backendFlags, settings) (answerer, error) {
	return func(ctx context.Context, a *app, b *backendFlags, s settings) (answerer, error) {
		c := replay.Config{Model: s.model, BaseURL: s.baseURL, Prices: s.price, Sandbox: b.Sandbox != agent.SandboxNone}
		var err error
		if c.Forbidden, err = a.forbidden(); err != nil {
			return answerer{}, err
		}
		for _, name := range credentials {
			if v := a.Getenv(name); v != "" {
				c.Credentials = append(c.Credentials, name+"="+v)
				a.keys.Add(v)
			}
		}
		return open(ctx, c)
	}
}

// forbidden are the places that hold answers, or other copies of the skill: our
// own data, and every agent's folder. A sandbox has none of them; without one the
// audit looks for them.
func (a *app) forbidden() ([]string, error) {
	data, err := a.home()
	if err != nil {
		return nil, err
	}
	claude, err := a.claude()
	if err != nil {
		return nil, err
	}
	skills, err := a.skillsDir()
	if err != nil {
		return nil, err
	}
	out := []string{string(data), claude, skills}
	home, err := os.UserHomeDir()
	if err != nil {
		return out, nil
	}
	for _, dir := range []string{".codex", ".pi", ".copilot", ".agents"} {
		out = append(out, filepath.Join(home, dir))
	}
	return out, nil
}

// needsSandbox refuses to replay with tools where no sandbox can be made and
// the owner did not say that none is wanted.
func (b *backendFlags) needsSandbox() error {
	if k := kindOf(b.Agent); k == nil || k.program == "" && k.name != "command" || b.Sandbox == agent.SandboxNone {
		return nil
	}
	if err := process.Available(); err != nil {
		return problem.Inputf("or replay without one, with your own rights: --sandbox none", "%s runs tools, and no sandbox works here: %v", b.Agent, err)
	}
	return nil
}

// choose picks the first backend that works where none is named, in the order of
// agentKinds, never the simulated one. openai counts only where its server or
// its model is named too: a key alone may be there for something else.
func (b *backendFlags) choose(a *app) (string, error) {
	var absent, locked []string
	for _, k := range agentKinds {
		switch {
		case k.name == "openai":
			// A variable may be there for something else; a flag and a model are not.
			there := a.Getenv(k.baseEnv) != "" || a.Getenv(b.APIKeyEnv) != ""
			if b.BaseURL != "" || there && b.Model != "" && !anthropic(b.Model) {
				return k.name, nil
			}
			continue
		case k.program == "":
			continue
		}
		if _, err := exec.LookPath(k.program); err != nil {
			absent = append(absent, k.name)
		} else if k.set(a) == "" {
			locked = append(locked, k.name)
		} else {
			return k.name, nil
		}
	}
	if a.Getenv(b.APIKeyEnv) != "" || a.Getenv("OPENAI_BASE_URL") != "" {
		return "", problem.Inputf("for example --model gpt-5-mini, or the name that your server lists", "the openai backend needs --model")
	}
	why := fmt.Sprintf("no key in %s and no --base-url", b.APIKeyEnv)
	if len(absent) > 0 {
		why += "; not on the PATH: " + strings.Join(absent, ", ")
	}
	if len(locked) > 0 {
		why += "; without a key: " + strings.Join(locked, ", ")
	}
	return "", problem.Inputf("`evolve doctor` prints what to type for each; `evolve demo` needs none of them", "no agent works yet: %s", why)
}

// anthropic reports whether a model's name is one that only Anthropic serves.
func anthropic(model string) bool {
	for _, word := range []string{"claude", "sonnet", "opus", "haiku"} {
		if strings.Contains(model, word) {
			return true
		}
	}
	return false
}
