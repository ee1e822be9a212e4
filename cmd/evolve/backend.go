package main

import (
	"context"
	"net/url"
	"strings"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/spf13/pflag"
)

// backendFlags choose who answers, who mutates and who judges: what is stored of that,
// and what concerns this process alone.
type backendFlags struct {
	agent.Spec

	noWait   bool
	command  string // as it was typed
	resolved bool
}

func (b *backendFlags) register(f *pflag.FlagSet) {
	names := strings.Join(agentNames(), ", ")
	f.StringVar(&b.Agent, "agent", "", "backend that replays cases: "+names+" (default: the first that works, never simulated)")
	f.StringVar(&b.Model, "model", "", "model of the agent")
	f.StringVar(&b.BaseURL, "base-url", "", "the model's server, OpenAI-compatible for openai (default: the vendor's, or the agent's own variable)")
	f.StringVar(&b.APIKeyEnv, "api-key-env", "", "environment variable that holds openai's key (default OPENAI_API_KEY)")
	f.StringVar(&b.ReflectAgent, "reflect-agent", "", "backend of the mutator (default: --agent)")
	f.StringVar(&b.ReflectModel, "reflect-model", "", "model of the mutator (default: --model)")
	f.StringVar(&b.JudgeAgent, "judge-agent", "", "backend of the judge (default: --reflect-agent)")
	f.StringVar(&b.JudgeModel, "judge-model", "", "model of the judge (default: --reflect-model)")
	f.Float64Var(&b.PriceIn, "price-in", 0, "USD per million input tokens (default: the price table's; unknown costs are told in tokens)")
	f.Float64Var(&b.PriceOut, "price-out", 0, "USD per million output tokens")
	f.StringVar(&b.Sandbox, "sandbox", "", "around agents that run tools: on, or none, which gives them your own rights (default on)")
	f.StringVar(&b.command, "command", "", "program of the backend \"command\", with its arguments, split at spaces")
	f.StringSliceVar(&b.PassEnv, "pass-env", nil, "variables that the program of --command gets")
	f.StringSliceVar(&b.AllowHosts, "allow-host", nil, "host:port that the program of --command reaches from its sandbox")
	f.StringVar(&b.HandoffDir, "handoff-dir", "", "folder for the requests of the backend \"handoff\" (default: handoff in evolve's data folder)")
	f.BoolVar(&b.noWait, "no-wait", false, "with handoff: put the requests there, save, and end with 3; the same command goes on")
}

// resolve fills the choices that were left open in, so that what runs is what
// the configuration says.
func (b *backendFlags) resolve(a *app) error {
	if b.resolved {
		return nil
	}
	def := func(p *string, vs ...string) {
		for _, v := range vs {
			if *p == "" {
				*p = v
			}
		}
	}
	conf, err := a.config()
	if err != nil {
		return err
	}
	def(&b.APIKeyEnv, conf.APIKeyEnv, "OPENAI_API_KEY")
	if b.Agent == "" || b.Agent == conf.Agent {
		// What the file says of a model and a server is about the file's agent.
		b.Agent = conf.Agent
		def(&b.Model, conf.Model)
		def(&b.BaseURL, conf.BaseURL)
	}
	def(&b.ReflectAgent, conf.ReflectAgent)
	def(&b.ReflectModel, conf.ReflectModel)
	def(&b.JudgeAgent, conf.JudgeAgent)
	def(&b.JudgeModel, conf.JudgeModel)
	def(&b.Sandbox, conf.Sandbox, agent.SandboxOn)
	if b.command != "" {
		b.Command = strings.Fields(b.command)
	}
	if len(b.Command) == 0 {
		b.Command = conf.Command
	}
	if len(b.PassEnv) == 0 {
		b.PassEnv = conf.PassEnv
	}
	if len(b.AllowHosts) == 0 {
		b.AllowHosts = conf.AllowHosts
	}
	if b.Sandbox != agent.SandboxOn && b.Sandbox != agent.SandboxNone {
		return problem.Inputf("--sandbox on, or none", "unknown --sandbox %q", b.Sandbox)
	}
	if b.Agent == "" {
		if b.Agent, err = b.choose(a); err != nil {
			return err
		}
	}
	def(&b.ReflectAgent, b.Agent)
	if b.ReflectAgent == b.Agent {
		def(&b.ReflectModel, b.Model)
	}
	def(&b.JudgeAgent, b.ReflectAgent)
	if b.JudgeAgent == b.ReflectAgent {
		def(&b.JudgeModel, b.ReflectModel)
	}
	for _, r := range b.Roles() {
		if kindOf(r.Agent) == nil {
			hint := "the backends are " + strings.Join(agentNames(), ", ")
			if near := skill.Nearest(r.Agent, agentNames()); near != "" {
				hint = "did you mean " + near + "?"
			}
			return problem.Inputf(hint, "unknown backend %q", r.Agent)
		}
		if r.Agent == "openai" && r.Model == "" {
			return problem.Inputf("for example --model gpt-5-mini, or the name that your server lists", "the openai backend needs %s", r.Flag)
		}
	}
	b.Servers = b.servers(a)
	for _, base := range b.Servers {
		u, err := url.Parse(base)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			if strings.Contains(base, "@") {
				base = "…@…" // what may be a password is not repeated
			}
			return problem.Inputf("for example --base-url http://127.0.0.1:11434/v1", "--base-url %q is no address", base)
		}
		if u.User != nil {
			return problem.Inputf("put the key into a variable and name that with --api-key-env", "--base-url must hold no password: it is written down with the run")
		}
	}
	b.PricesOf = conf.Prices.Date
	for _, r := range b.Roles() {
		if p := conf.Prices.price(r.Model); p != nil && b.Prices[r.Model] == (eval.Price{}) {
			if b.Prices == nil {
				b.Prices = map[string]eval.Price{}
			}
			b.Prices[r.Model] = *p
		}
	}
	b.resolved = true
	return nil
}

// servers finds the base URL of every backend in use. --base-url is openai's
// where openai plays a part, else the agent's; all others take their own
// variable.
func (b *backendFlags) servers(a *app) map[string]string {
	of := b.Agent
	for _, r := range b.Roles() {
		if r.Agent == "openai" {
			of = r.Agent
		}
	}
	out := map[string]string{}
	for _, r := range b.Roles() {
		base := ""
		if k := kindOf(r.Agent); k.baseEnv != "" {
			base = a.Getenv(k.baseEnv)
		}
		if r.Agent == of && b.BaseURL != "" {
			base = b.BaseURL
		}
		if was := b.Servers[r.Agent]; was != "" {
			base = was // a resumed run goes where it went
		}
		if base != "" {
			out[r.Agent] = base
		}
	}
	return out
}

// open makes the backends.
func (b *backendFlags) open(ctx context.Context, a *app) (*agent.Backends, error) {
	if err := b.resolve(a); err != nil {
		return nil, err
	}
	if err := b.needsSandbox(); err != nil {
		return nil, err
	}
	// Before any of them is made: what one was given must not be told to another.
	for _, name := range append([]string{b.APIKeyEnv}, b.PassEnv...) {
		a.keys.Add(a.Getenv(name))
	}
	made := map[agent.Role]answerer{}
	get := func(r agent.Role) (answerer, error) {
		r.Flag = ""
		if m, ok := made[r]; ok {
			return m, nil
		}
		m, err := kindOf(r.Agent).make(ctx, a, b, settings{model: r.Model, baseURL: b.Servers[r.Agent], price: b.Price(r.Model)})
		made[r] = m
		return m, err
	}
	var played [3]answerer
	for i, r := range b.Roles() {
		var err error
		if played[i], err = get(r); err != nil {
			return nil, err
		}
	}
	back := &agent.Backends{Agent: played[0].agent, Mutator: played[1].model, Judge: played[2].model, Redactor: a.redactor(), AtATime: b.atATime(a)}
	if usesTools(b.Agent) {
		back.Spaces = &eval.RecordedWorkspaces{}
	}
	return back, nil
}

// usesTools reports whether an agent works in a folder.
func usesTools(name string) bool {
	k := kindOf(name)
	return k != nil && k.folder
}

// atATime is how many rollouts run at once where nobody says: programs take a
// core each, and share a subscription.
func (b *backendFlags) atATime(a *app) int {
	if a.conf != nil && a.conf.Concurrency > 0 {
		return a.conf.Concurrency
	}
	switch {
	case b.ByHand():
		return 32 // requests that stand open at once
	case usesTools(b.Agent):
		return 2
	}
	return 8
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
