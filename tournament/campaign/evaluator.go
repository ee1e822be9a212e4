package campaign

import (
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/tournament/search"
)

// Evaluator runs rollouts of these cases with this configuration. The caller
// decides where they are recorded.
func (c *Config) Evaluator(back *agent.Backends, cases []eval.Case, budget *eval.Budget, now func() time.Time) *eval.Evaluator {
	p := c.rollouts(back, cases, now)
	return p.Evaluator(budget, c.MaxRetries)
}

// rollouts is the part of a plan that determines how rollouts of these cases
// are run.
func (c *Config) rollouts(back *agent.Backends, cases []eval.Case, now func() time.Time) search.Plan {
	return search.Plan{Agent: back.Agent, Grader: back.Grader(&c.Spec, cases), Redact: back.Redactor, Workspaces: back.Workspaces(),
		Concurrency: c.Concurrency, PerSecond: c.PerSecond, WallClock: c.WallClock, MaxRetries: c.MaxRetries, Now: now}
}
