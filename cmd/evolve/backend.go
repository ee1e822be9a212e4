package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/problem"
	"github.com/skill-evolve/evolve/harvest/redact"
	"github.com/skill-evolve/evolve/mutate/skill"
	"github.com/spf13/pflag"
)

// backendFlags choose who answers, who mutates and who judges. The JSON form is
// part of a run's configuration; what the environment and config.yaml said when
// it began is in it.
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
	Sandbox      string  `json:"sandbox,omitempty"`
	// Command is the program of the backend "command"; PassEnv names the
	// variables that it gets, AllowHosts what it reaches from its sandbox.
	Command    []string `json:"command,omitempty"`
	PassEnv    []string `json:"pass_env,omitempty"`
	AllowHosts []string `json:"allow_hosts,omitempty"`
	HandoffDir string   `json:"handoff_dir,omitempty"`
	// Servers are the base URLs of the backends, by their names.
	Servers map[string]string `json:"servers,omitempty"`
	// Prices are those of the models in use, and PricesOf their date.
	Prices   map[string]eval.Price `json:"prices,omitempty"`
	PricesOf string                `json:"prices_of,omitempty"`

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

// backends are who answers in one run.
type backends struct {
	agent   eval.Agent
	mutator eval.Model
	judge   eval.Model
	spaces  *eval.RecordedWorkspaces // nil: the agent works in no folder
	// redactor knows the keys of this process by their values.
	redactor redact.Redactor
}

// workspaces are the folders that the agent works in; nil for one that reads a
// case's files from its prompt.
func (b *backends) workspaces() eval.Workspaces {
	if b.spaces == nil {
		return nil // and not an interface that holds nothing
	}
	return b.spaces
}

// close removes what the workspaces kept.
func (b *backends) close() error {
	if b == nil || b.spaces == nil {
		return nil
	}
	return b.spaces.Close()
}

// grader grades by a case's checks, with the judge and the programs of this run.
func (b *backendFlags) grader(back *backends, cases []eval.Case) *eval.Checks {
	g := &eval.Checks{Judge: back.judge, Redactor: back.redactor}
	if slices.ContainsFunc(cases, func(c eval.Case) bool { return runsPrograms(&c) }) {
		// Else how programs would be run is no part of what is measured.
		g.TrustExec, g.Programs = true, b.programs(cases)
	}
	return g
}

// A role is one part that a backend plays in a run.
type role struct{ agent, model, flag string }

func (b *backendFlags) roles() []role {
	return []role{{b.Agent, b.Model, "--model"}, {b.ReflectAgent, b.ReflectModel, "--reflect-model"}, {b.JudgeAgent, b.JudgeModel, "--judge-model"}}
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
	def(&b.Sandbox, conf.Sandbox, sandboxOn)
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
	if b.Sandbox != sandboxOn && b.Sandbox != sandboxNone {
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
	for _, r := range b.roles() {
		if kindOf(r.agent) == nil {
			hint := "the backends are " + strings.Join(agentNames(), ", ")
			if near := skill.Nearest(r.agent, agentNames()); near != "" {
				hint = "did you mean " + near + "?"
			}
			return problem.Inputf(hint, "unknown backend %q", r.agent)
		}
		if r.agent == "openai" && r.model == "" {
			return problem.Inputf("for example --model gpt-5-mini, or the name that your server lists", "the openai backend needs %s", r.flag)
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
	for _, r := range b.roles() {
		if p := conf.Prices.price(r.model); p != nil && b.Prices[r.model] == (eval.Price{}) {
			if b.Prices == nil {
				b.Prices = map[string]eval.Price{}
			}
			b.Prices[r.model] = *p
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
	for _, r := range b.roles() {
		if r.agent == "openai" {
			of = r.agent
		}
	}
	out := map[string]string{}
	for _, r := range b.roles() {
		base := ""
		if k := kindOf(r.agent); k.baseEnv != "" {
			base = a.Getenv(k.baseEnv)
		}
		if r.agent == of && b.BaseURL != "" {
			base = b.BaseURL
		}
		if was := b.Servers[r.agent]; was != "" {
			base = was // a resumed run goes where it went
		}
		if base != "" {
			out[r.agent] = base
		}
	}
	return out
}

// open makes the backends.
func (b *backendFlags) open(ctx context.Context, a *app) (*backends, error) {
	if err := b.resolve(a); err != nil {
		return nil, err
	}
	if err := b.needsSandbox(); err != nil {
		return nil, err
	}
	// Before any of them is made: what one was given must not be told to another.
	for _, name := range append([]string{b.APIKeyEnv}, b.PassEnv...) {
		a.keys = append(a.keys, a.Getenv(name))
	}
	made := map[role]answerer{}
	get := func(r role) (answerer, error) {
		r.flag = ""
		if m, ok := made[r]; ok {
			return m, nil
		}
		m, err := kindOf(r.agent).make(ctx, a, b, settings{model: r.model, baseURL: b.Servers[r.agent], price: b.price(r.model)})
		made[r] = m
		return m, err
	}
	var played [3]answerer
	for i, r := range b.roles() {
		var err error
		if played[i], err = get(r); err != nil {
			return nil, err
		}
	}
	back := &backends{agent: played[0].agent, mutator: played[1].model, judge: played[2].model, redactor: a.redactor()}
	if b.tools() {
		back.spaces = &eval.RecordedWorkspaces{}
	}
	return back, nil
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

// price is what a model costs; nil where nobody knows.
func (b *backendFlags) price(model string) *eval.Price {
	if b.PriceIn > 0 || b.PriceOut > 0 {
		return &eval.Price{Input: b.PriceIn, Output: b.PriceOut}
	}
	if p, ok := b.Prices[model]; ok {
		return &p
	}
	return nil
}

// usd estimates what tokens of a model cost together: an answer is about a third
// of a call's tokens, and priced apart. nil where nobody knows.
func (b *backendFlags) usd(model string, tokens float64) *float64 {
	p := b.price(model)
	if p == nil {
		return nil
	}
	usd := tokens * (p.Input*2/3 + p.Output/3) / 1e6
	return &usd
}

// tools reports whether the agent works in a folder.
func (b *backendFlags) tools() bool {
	k := kindOf(b.Agent)
	return k != nil && k.folder
}

// atATime is how many rollouts run at once where nobody says: programs take a
// core each, and share a subscription.
func (b *backendFlags) atATime(a *app) int {
	if a.conf != nil && a.conf.Concurrency > 0 {
		return a.conf.Concurrency
	}
	switch {
	case b.handsOff():
		return 32 // requests that stand open at once
	case b.tools():
		return 2
	}
	return 8
}

// describe names who works, in words: the default is said aloud.
func (b *backendFlags) describe() string {
	name := func(agent, model string) string {
		switch {
		case agent == "simulated":
			return "the simulated model"
		case model == "":
			return agent + " with its own model"
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
