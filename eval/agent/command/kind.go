package command

import (
	"context"
	"os"
	"path/filepath"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/agent/replay"
	"github.com/skill-evolve/evolve/eval/problem"
)

// Kind is the backend that runs the owner's own program.
var Kind = &agent.Kind{Name: "command", UsesTools: true, Dollars: agent.Unknown, Asks: asks, Make: func(ctx context.Context, o *agent.Opening) (agent.Answerer, error) {
	if len(o.Spec.Command) == 0 {
		return agent.Answerer{}, problem.Inputf("for example --command 'python3 my_agent.py'; docs/adding-an-agent.md has the contract", "the command backend needs --command")
	}
	c := Config{Config: replay.Config{Path: o.Spec.Command[0], Model: o.Model, Prices: o.Price, Sandbox: o.Sandbox(), Asking: o.Asking},
		Args: o.Spec.Command[1:], Hosts: o.Spec.AllowHosts}
	c.Credentials = replay.Keys(o, o.Spec.PassEnv)
	return agent.Both(New(ctx, c))
}}

// asks are the hosts that the program reaches from its sandbox. Without one it may send
// what it gets to anybody: it is a vendor of its own name.
func asks(o *agent.Opening) (to []agent.Recipient) {
	if !o.Sandbox() {
		name := ""
		for i, word := range o.Spec.Command {
			if info, err := os.Stat(word); i == 0 || i == 1 && err == nil && info.Mode().IsRegular() { // sh SCRIPT
				name = filepath.Base(word)
			}
		}
		return []agent.Recipient{{Vendor: "command:" + name}}
	}
	for _, host := range o.Spec.AllowHosts {
		to = append(to, agent.At(host)...)
	}
	return to
}
