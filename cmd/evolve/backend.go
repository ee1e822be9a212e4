package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent/openai"
	"github.com/skill-evolve/evolve/eval/agent/simulated"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/spf13/pflag"
)

// backendFlags choose who answers, who mutates and who judges. The JSON form is
// part of a run's configuration.
type backendFlags struct {
	Agent        string  `json:"agent"`
	Model        string  `json:"model,omitempty"`
	BaseURL      string  `json:"base_url,omitempty"`
	APIKeyEnv    string  `json:"api_key_env,omitempty"`
	ReflectAgent string  `json:"reflect_agent,omitempty"`
	ReflectModel string  `json:"reflect_model,omitempty"`
	JudgeAgent   string  `json:"judge_agent,omitempty"`
	JudgeModel   string  `json:"judge_model,omitempty"`
	PriceIn      float64 `json:"price_in,omitempty"`
	PriceOut     float64 `json:"price_out,omitempty"`
}

func (b *backendFlags) register(f *pflag.FlagSet) {
	f.StringVar(&b.Agent, "agent", "", "backend that replays cases: openai or simulated (default: the first that works, never simulated)")
	f.StringVar(&b.Model, "model", "", "model of the agent")
	f.StringVar(&b.BaseURL, "base-url", "", "OpenAI-compatible server (default $OPENAI_BASE_URL or OpenAI's own)")
	f.StringVar(&b.APIKeyEnv, "api-key-env", "OPENAI_API_KEY", "environment variable that holds the key")
	f.StringVar(&b.ReflectAgent, "reflect-agent", "", "backend of the mutator (default: --agent)")
	f.StringVar(&b.ReflectModel, "reflect-model", "", "model of the mutator (default: --model)")
	f.StringVar(&b.JudgeAgent, "judge-agent", "", "backend of the judge (default: --reflect-agent)")
	f.StringVar(&b.JudgeModel, "judge-model", "", "model of the judge (default: --reflect-model)")
	f.Float64Var(&b.PriceIn, "price-in", 0, "USD per million input tokens (default: unknown, cost is then told in tokens)")
	f.Float64Var(&b.PriceOut, "price-out", 0, "USD per million output tokens")
}

// backends are who answers in one run.
type backends struct {
	agent   eval.Agent
	mutator eval.Model
	judge   eval.Model
}

// agentNames are the backends that this build links.
var agentNames = []string{"openai", "simulated"}

// resolve fills the choices that were left open in, so that what runs is what
// the configuration says.
func (b *backendFlags) resolve(a *app) error {
	def := func(p *string, v string) {
		if *p == "" {
			*p = v
		}
	}
	if b.Agent == "" {
		if b.BaseURL == "" && a.getenv("OPENAI_BASE_URL") == "" && a.getenv(b.APIKeyEnv) == "" {
			return usage("set "+b.APIKeyEnv+", or name a server with --base-url; `evolve demo` needs neither",
				"no agent works yet: there is no key in %s and no --base-url", b.APIKeyEnv)
		}
		b.Agent = "openai"
	}
	def(&b.BaseURL, a.getenv("OPENAI_BASE_URL"))
	def(&b.ReflectAgent, b.Agent)
	def(&b.ReflectModel, b.Model)
	def(&b.JudgeAgent, b.ReflectAgent)
	def(&b.JudgeModel, b.ReflectModel)
	for _, name := range []string{b.Agent, b.ReflectAgent, b.JudgeAgent} {
		if !contains(agentNames, name) {
			hint := "the backends are " + strings.Join(agentNames, ", ")
			if near := skill.Nearest(name, agentNames); near != "" {
				hint = "did you mean " + near + "?"
			}
			return usage(hint, "unknown backend %q", name)
		}
	}
	for _, p := range []struct{ name, model, flag string }{
		{b.Agent, b.Model, "--model"}, {b.ReflectAgent, b.ReflectModel, "--reflect-model"}, {b.JudgeAgent, b.JudgeModel, "--judge-model"}} {
		if p.name == "openai" && p.model == "" {
			return usage("for example --model gpt-5-mini, or the name that your server lists", "the openai backend needs %s", p.flag)
		}
	}
	if b.BaseURL != "" {
		if u, err := url.Parse(b.BaseURL); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return usage("for example --base-url http://127.0.0.1:11434/v1", "--base-url %q is no address", b.BaseURL)
		}
	}
	return nil
}

// open makes the backends.
func (b *backendFlags) open(a *app) (*backends, error) {
	if err := b.resolve(a); err != nil {
		return nil, err
	}
	client := func(name, model string) (eval.Agent, eval.Model, error) {
		if name == "simulated" {
			w := simulated.Demo()
			return w.Agent(), w.Model(), nil
		}
		c, err := openai.New(openai.Config{BaseURL: b.BaseURL, APIKey: a.getenv(b.APIKeyEnv), Model: model, Prices: b.price(model)})
		if err != nil {
			return nil, nil, usage("check --base-url and --model", "openai backend: %v", err)
		}
		return c, c, nil
	}
	var out backends
	var err error
	if out.agent, _, err = client(b.Agent, b.Model); err != nil {
		return nil, err
	}
	if _, out.mutator, err = client(b.ReflectAgent, b.ReflectModel); err != nil {
		return nil, err
	}
	if _, out.judge, err = client(b.JudgeAgent, b.JudgeModel); err != nil {
		return nil, err
	}
	return &out, nil
}

// pinger is the extra ability of a backend to say cheaply that it is there.
type pinger interface{ Ping(context.Context) error }

// ping tries every backend that can tell, once, before anything is spent.
func (b *backends) ping(ctx context.Context) error {
	for _, x := range []any{b.agent, b.mutator, b.judge} {
		p, ok := x.(pinger)
		if !ok {
			continue
		}
		short, cancel := context.WithTimeout(ctx, pingTimeout)
		err := p.Ping(short)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = &eval.InfraError{Kind: eval.Unreachable, Err: fmt.Errorf("no answer within %v", pingTimeout)}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

const pingTimeout = 10 * time.Second

func (b *backendFlags) price(model string) *openai.Price {
	if b.PriceIn > 0 || b.PriceOut > 0 {
		return &openai.Price{Input: b.PriceIn, Output: b.PriceOut}
	}
	return nil
}

// describe names who works, in words: the default is said aloud.
func (b *backendFlags) describe() string {
	name := func(agent, model string) string {
		if agent == "simulated" {
			return "the simulated model"
		}
		return fmt.Sprintf("%s/%s", agent, model)
	}
	s := "agent " + name(b.Agent, b.Model)
	if b.ReflectAgent != b.Agent || b.ReflectModel != b.Model {
		s += ", mutator " + name(b.ReflectAgent, b.ReflectModel)
	}
	if b.JudgeAgent != b.ReflectAgent || b.JudgeModel != b.ReflectModel {
		s += ", judge " + name(b.JudgeAgent, b.JudgeModel)
	}
	return s
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
