package command

import (
	"context"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/eval/problem"
)

// Kind is the backend that runs the owner's own program.
var Kind = &agent.Kind{Name: "command", UsesTools: true, Dollars: agent.Unknown, Make: func(ctx context.Context, o *agent.Opening) (agent.Answerer, error) {
	if len(o.Spec.Command) == 0 {
		return agent.Answerer{}, problem.Inputf("for example --command 'python3 my_agent.py'; docs/adding-an-agent.md has the contract", "the command backend needs --command")
	}
	c := Config{Config: replay.Config{Path: o.Spec.Command[0], Model: o.Model, Prices: o.Price, Sandbox: o.Sandbox(), Asking: o.Asking},
		Args: o.Spec.Command[1:], Hosts: o.Spec.AllowHosts}
	c.Credentials = replay.Keys(o, o.Spec.PassEnv)
	return agent.Both(New(ctx, c))
}}
