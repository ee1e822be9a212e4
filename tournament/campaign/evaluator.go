package campaign

import (
	"context"
	"time"

	"github.com/skill-evolve/evolve/eval"
	"github.com/skill-evolve/evolve/eval/agent"
	"github.com/skill-evolve/evolve/harvest/outgoing"
	"github.com/skill-evolve/evolve/tournament/neighbours"
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
	executor, workers := back.Executor()
	return search.Plan{Executor: executor, Workers: workers, Agent: back.Agent, Grader: back.Grader(&c.Spec, cases), Redact: back.Redactor, Workspaces: back.Workspaces(),
		Concurrency: c.Concurrency, PerSecond: c.PerSecond, WallClock: c.WallClock, MaxRetries: c.MaxRetries, Now: now}
}

// findNeighbours finds the skills that this one is used with. A run without a gate installs
// nothing.
func (c *Campaign) findNeighbours(ctx context.Context) (err error) {
	f := neighbours.Finder{Store: c.db, Layout: c.runner.Layout, Back: c.back, Spec: &c.Config.Spec, Control: c.runner.Control, Variant: VariantOf}
	f.Learned = func(ctx context.Context, kinds []string, name, sha string) (outgoing.Left, error) {
		return c.runner.Learned(ctx, c.db, c.back, kinds, name, sha)
	}
	if !c.Config.NoGate {
		c.beside, err = f.Find(ctx, c.Config.Skill, c.cases)
	}
	return err
}
