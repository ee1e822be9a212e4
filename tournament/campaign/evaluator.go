package campaign

import (
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"golang.org/x/time/rate"
)

// Evaluator runs rollouts of these cases as this configuration says. Where they are
// recorded is left open.
func (c *Config) Evaluator(back *agent.Backends, cases []eval.Case, budget *eval.Budget, now func() time.Time) *eval.Evaluator {
	e := &eval.Evaluator{Agent: back.Agent, Grader: back.Grader(&c.Spec, cases), Budget: budget, Redactor: back.Redactor,
		Concurrency: c.Concurrency, Workspaces: back.Workspaces(), WallClock: c.WallClock, MaxRetries: c.MaxRetries, Now: now}
	if c.PerSecond > 0 {
		e.Limiter = rate.NewLimiter(rate.Limit(c.PerSecond), 1)
	}
	return e
}
