package simulated

import (
	"context"

	"github.com/skill-evolve/evolve/eval/agent"
)

// Kind is the simulated agent and model of the demo.
var Kind = &agent.Kind{Name: "simulated", Simulated: true, Make: func(context.Context, *agent.Opening) (agent.Answerer, error) {
	w := Demo()
	return agent.Answerer{Agent: w.Agent(), Model: w.Model()}, nil
}}
