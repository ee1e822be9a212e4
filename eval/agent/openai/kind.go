package openai

import (
	"context"

	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/eval/problem"
)

// Kind is this backend.
var Kind = &agent.Kind{Name: "openai", NeedsModel: true, AnyServer: true, Dollars: agent.ByTable,
	Credentials: []string{"OPENAI_API_KEY"}, BaseEnv: "OPENAI_BASE_URL",
	Login: "export OPENAI_API_KEY=…, or name a server with --base-url",
	Asks:  agent.Server("api.openai.com"),
	Make: func(_ context.Context, o *agent.Opening) (agent.Answerer, error) {
		c, err := New(Config{BaseURL: o.BaseURL, APIKey: o.Key(o.Spec.APIKeyEnv), Model: o.Model, Prices: o.Price})
		if err != nil {
			return agent.Answerer{}, problem.Inputf("check --base-url and --model", "openai backend: %v", err)
		}
		return agent.Both(c, nil)
	}}
