// Package backend opens agents, models and session readers from flags,
// config.yaml and prices.
package backend

import (
	"strings"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/spf13/pflag"
)

// Flags choose the agent, the mutator and the judge, as typed.
type Flags struct {
	// NoWait is for the backend "handoff": it writes its requests, and does
	// not wait for answers.
	NoWait bool

	spec    agent.Spec
	command string // of the backend "command", with its arguments
}

// Spec is the part of the flags that a run stores.
func (b *Flags) Spec() agent.Spec {
	s := b.spec
	if b.command != "" {
		s.Command = strings.Fields(b.command)
	}
	return s
}

// RegisterSearch adds the flags to f, with those of a command that may search.
func (b *Flags) RegisterSearch(f *pflag.FlagSet) {
	b.Register(f)
	b.RegisterSetup(f)
	b.spec.Searches = true
	f.StringVar(&b.spec.SearchModel, "search-model", "", "a cheaper model of the agent for the search; the trial has --model (default: --model)")
}

// RegisterSetup adds to f the flags of a command that replays cases in their repositories.
func (b *Flags) RegisterSetup(f *pflag.FlagSet) {
	f.StringVar(&b.spec.Setup, "setup", "", "command that prepares the dependencies of recorded repositories, for example \"npm ci\"; it runs in a sandbox, once for each recorded tree")
	f.StringSliceVar(&b.spec.SetupHosts, "setup-network", nil, "host:port that --setup reaches; \"registries\" are those of public packages (default none)")
}

// Register adds the flags to f.
func (b *Flags) Register(f *pflag.FlagSet) {
	names := strings.Join(agent.Names(), ", ")
	f.StringVar(&b.spec.Agent, "agent", "", "backend that replays cases: "+names+" (default: the first that works, never simulated)")
	f.StringVar(&b.spec.Model, "model", "", "model of the agent")
	f.StringVar(&b.spec.BaseURL, "base-url", "", "the model's server, OpenAI-compatible for openai (default: the vendor's, or the agent's own variable)")
	f.StringVar(&b.spec.APIKeyEnv, "api-key-env", "", "environment variable that holds openai's key (default OPENAI_API_KEY)")
	f.StringVar(&b.spec.ReflectAgent, "reflect-agent", "", "backend of the mutator (default: --agent)")
	f.StringVar(&b.spec.ReflectModel, "reflect-model", "", "model of the mutator (default: --model)")
	f.StringVar(&b.spec.JudgeAgent, "judge-agent", "", "backend of the judge (default: --reflect-agent)")
	f.StringVar(&b.spec.JudgeModel, "judge-model", "", "model of the judge (default: --reflect-model)")
	f.Float64Var(&b.spec.PriceIn, "price-in", 0, "USD per million input tokens (default: from the price table; calls without a price are reported in tokens)")
	f.Float64Var(&b.spec.PriceOut, "price-out", 0, "USD per million output tokens")
	f.StringVar(&b.spec.Fleet, "fleet", "", "file of an invitation: the workers of that fleet replay, and this machine decides (default: this machine replays)")
	f.StringVar(&b.spec.Sandbox, "sandbox", "", "around agents that run tools: on, or none, which gives them your own rights (default on)")
	f.StringVar(&b.spec.Context, "context", "", "what replays load beside the subject: owner, as at yours (instructions, rules, notes, other skills), or bare, nothing (default owner)")
	f.StringVar(&b.command, "command", "", "program of the backend \"command\", with its arguments, split at spaces")
	f.StringSliceVar(&b.spec.PassEnv, "pass-env", nil, "variables that the program of --command gets")
	f.StringSliceVar(&b.spec.AllowHosts, "allow-host", nil, "host:port that the program of --command reaches from its sandbox")
	f.StringVar(&b.spec.HandoffDir, "handoff-dir", "", "folder for the requests of the backend \"handoff\" (default: handoff in evolve's data folder)")
	f.BoolVar(&b.NoWait, "no-wait", false, "with handoff: write the requests and exit with 3; repeat the command to continue")
}
