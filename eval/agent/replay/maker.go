package replay

import (
	"context"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
)

// Maker opens a backend that drives an agent's own program. It runs tools, so it
// runs in a sandbox unless the owner decides otherwise.
func Maker[T interface {
	eval.Agent
	eval.Model
}](open func(context.Context, Config) (T, error), credentials []string) func(context.Context, *agent.Opening) (agent.Answerer, error) {
	return func(ctx context.Context, o *agent.Opening) (agent.Answerer, error) {
		c := Config{Model: o.Model, BaseURL: o.BaseURL, Prices: o.Price, Sandbox: o.Sandbox(), Owner: o.Owner, Window: o.Window}
		var err error
		if c.Forbidden, err = o.Forbidden(); err != nil {
			return agent.Answerer{}, err
		}
		c.Credentials = Keys(o, credentials)
		return agent.Both(open(ctx, c))
	}
}

// Keys are the variables of these names that are set, KEY=VALUE.
func Keys(o *agent.Opening, names []string) (list []string) {
	for _, name := range names {
		if v := o.Key(name); v != "" {
			list = append(list, name+"="+v)
		}
	}
	return list
}
